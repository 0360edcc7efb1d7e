// A pool of small windows. An invocation computes a thread tile: up to eight lines of four neighbouring outputs, of
// four channels of an output, or of one output. It loads all lines of X that the tile's windows span, reduces each
// along the windows once, and joins the lines of each window. There is no loop over lines, so that many loads are in
// flight together.
//
//   line 0   [ loads ]  --.                 KERNEL_1 = 3, LINES_BETWEEN = 1, LINES = 4
//   line 1   [ loads ]  --+-- output line 0
//   line 2   [ loads ]  --+-- output line 1
//   ...                       ...
//   line 5   [ loads ]  ----- output line 3
//
// Fewest bytes: X once, Y once, Indices once. The lines between tiles and the columns beside them are read again, by
// caches.
// Algorithm: row windows, then columns.
// provides: main
// requires: pool, invocation, WORKGROUP, place_of, tile_of, computed_again, store_line, LINES
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  if (number >= pool.blocks) {
    return;
  }
  let place = place_of(pool.block_first + number);
  let tile = tile_of(place);
  if (computed_again(place, tile)) {
    return;
  }
  for (var line = 0u; line < LINES; line++) { // unrolled
    store_line(place, line, tile[line]);
  }
}
