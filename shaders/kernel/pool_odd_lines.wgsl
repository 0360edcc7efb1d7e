// A pool of small windows of elements smaller than a word, whose rows are not whole words, and whose lines of outputs
// share no line of X. The invocation that computes a word's first element writes the word. The outputs of an invocation
// begin at a word boundary. The last invocation of a line also computes the first outputs of the next line, which share
// a word with its last outputs:
//
//   line 0 of Y    0 0 0 0 0 0 0 0 0 0|          ten outputs each, of 8 bits
//   words          [     ] [     ] [  :  ]       the last one holds two outputs of line 1
//   line 1 of Y       |1 1 1 1 1 1 1 1 1 1|
//   words            ]:  [     ] [     ] [       those of line 1 begin at its column 2
//
// Fewest bytes: X once, Y once, Indices once. An invocation loads each word of X that its windows cover once. Words
// that the windows of two invocations cover are loaded by both.
// Algorithm: row windows; words of a line aligned by a shift.
// provides: main
// requires: pool, invocation, WORKGROUP, join_maxima, thread_tile_of, line_of_planes, line_windows, store_line, KERNEL_1, DILATION_1
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let tile = thread_tile_of(invocation(group, pool.grid_width, local));
  if (!tile.exists) {
    return;
  }
  let place = tile.place;
  var best = line_windows(place, tile.top, 0u);
  for (var tap = 1u; tap < KERNEL_1; tap++) {
    best = join_maxima(best, line_windows(place, tile.top + i32(tap * DILATION_1), tap));
  }
  var goal = tile.goal;
  goal.begin = goal.column;
  goal.first_line = line_of_planes(place.planes, 0u, tile.top);
  goal.head_line = line_of_planes(place.head_planes, 0u, tile.top + place.head_down);
  store_line(goal, best);
}
