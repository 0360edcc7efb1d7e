// A pool of small windows of elements smaller than a word, whose rows are not whole words. An invocation computes the
// lines of its thread tile from the top down and keeps the row maxima of the last lines of X in registers, as in
// kernel/pool_shared_lines.wgsl. The invocation that computes a word's first element writes the word. Words begin at a
// different column in each line, so an invocation computes a few more neighbouring windows than it writes:
//
//   line 0 of Y    0 0 0 0 0 0 0 0 0 0|          ten outputs each, of 8 bits
//   words          [     ] [     ] [  :  ]       the last one holds two outputs of line 1
//   line 1 of Y       |1 1 1 1 1 1 1 1 1 1|
//   words            ]:  [     ] [     ] [       those of line 1 begin at its column 2
//
// The last invocation of a line also computes the first outputs of the next line, which share a word with its last
// outputs.
//
// Fewest bytes: X once, Y once, Indices once. An invocation loads each word of X that its windows cover once. Words
// that the windows of two invocations cover are loaded by both.
// Algorithm: row windows, kept in registers; words of a line aligned by a shift.
// provides: main
// requires: pool, invocation, WORKGROUP, first_lines, best_of, thread_tile_of, planes_of, origin_of_planes, line_of_planes, with_next_lines, Later, store_line, taken_head, put, Windows, join_windows, head_of_windows, DILATION_1, LINES_BETWEEN, ORDER_LINES, ORDER_COLUMNS, OUTPUTS
// The first windows of the first line of outputs of a plane of Y. The loop's bound is read from the uniform, so that
// compilers do not unroll the loop: few invocations run it, and each unrolled copy would cost compile time.
fn head_of_planes(planes: Planes) -> Windows {
  let top = -pool.axes[1].pad_begin;
  let lines = pool.axes[1].kernel;
  var best: Windows;
  for (var number = 0u; number < pool.axes[0].kernel * lines; number++) {
    let depth = number / lines;
    let tap = number - depth * lines;
    let line = line_of_planes(planes, depth, top + i32(tap * DILATION_1)) - pool.x_first;
    let next = head_of_windows(line, (depth * ORDER_LINES + tap) * ORDER_COLUMNS);
    if (number == 0u) {
      best = next;
    } else {
      best = join_windows(best, next);
    }
  }
  return best;
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let tile = thread_tile_of(invocation(group, pool.grid_width, local));
  if (!tile.exists) {
    return;
  }
  let width = pool.axes[2].output;
  let height = pool.axes[1].output;
  let place = tile.place;
  let top = tile.top;
  var goal = tile.goal;
  let count = min(pool.tile_lines, height - tile.out_top);
  var later: Later;
  var kept = first_lines(place, top);
  for (var step = 0u; step < count; step++) {
    let first = step * LINES_BETWEEN;
    kept = with_next_lines(kept, place, top, first);
    goal.begin = tile.column + (0u - goal.line) % OUTPUTS;
    goal.first_line = line_of_planes(place.planes, 0u, top + i32(first));
    goal.head_line = line_of_planes(place.head_planes, 0u, top + i32(first) + place.head_down);
    // After the last line of a plane, the next line of outputs is the first one of the next plane. The two share no
    // lines of X, so the word that holds outputs of both is written after the loop.
    goal.later = place.at_end && tile.out_top + step + 1u == height;
    later = store_line(goal, best_of(kept));
    goal.line += width;
  }
  if (goal.later && later.bits != 0u) {
    goal.line -= width;
    let next = planes_of(tile.plane + 1u);
    goal.head_line = line_of_planes(next, 0u, -pool.axes[1].pad_begin);
    goal.head_origin = origin_of_planes(next);
    let head = taken_head(goal, head_of_planes(next));
    put(later.place, later.word | (head << later.bits));
  }
}
