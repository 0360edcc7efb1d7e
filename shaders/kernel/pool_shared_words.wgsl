// A pool of small windows of elements smaller than a word, in lines that are not whole words: as
// kernel/pool_thread_tile.wgsl, but the words of Y hold outputs of two invocations, which meet in workgroup memory.
//
// Fewest bytes: X once, Y once, Indices once. The lines between tiles and the columns beside them are read again, by
// caches.
// Algorithm: row windows, then columns; words aligned by a shift, of X and of Y.
// provides: main
// requires: pool, invocation, WORKGROUP, Place, place_of, tile_of, computed_again, store_line, own_number, put_kept, clear_rest, LINES
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  var place: Place;
  own_number = local;
  if (number < pool.blocks) {
    place = place_of(pool.block_first + number);
    let tile = tile_of(place);
    if (!computed_again(place, tile)) {
      for (var line = 0u; line < LINES; line++) { // unrolled
        store_line(place, line, tile[line]);
      }
    }
  }
  workgroupBarrier();
  if (number < pool.blocks) {
    put_kept(place);
  }
  if (number + 1u == pool.blocks) {
    clear_rest();
  }
}
