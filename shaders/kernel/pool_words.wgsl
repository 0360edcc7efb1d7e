// A pool of small windows of elements smaller than a word, in rows that are not whole words. A word has one writer, so
// an invocation computes the consecutive outputs of a word of Y, one after the other, wherever in a plane they lie.
//
//   lines of Y     0 0 0 0 0 0|1 1 1 1 1 1|2 2        six outputs each, of 8 bits
//   words          [     ] [       ] [     ]
//
// Fewest bytes: X once, Y once, Indices once. Each tap is loaded by itself; neighbours load the same words.
// Algorithm: row windows, then columns.
// provides: main
// requires: pool, invocation, WORKGROUP, place_of, tile_of, computed_again, store_line, word, y, ZERO_WORD, OUTPUTS
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let number = invocation(group, pool.grid_width, local);
  let first = number * OUTPUTS;
  if (first >= pool.outputs) {
    return;
  }
  word = ZERO_WORD;
  let count = min(OUTPUTS, pool.outputs - first);
  for (var i = 0u; i < count; i++) {
    let place = place_of(pool.output_first + first + i);
    let tile = tile_of(place);
    if (!computed_again(place, tile)) {
      store_line(place, 0u, tile[0]);
    }
  }
  y[number] = word;
}
