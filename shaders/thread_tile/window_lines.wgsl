// Reduces whole windows, for one line of outputs. Lines are numbered across all planes.
// provides: windows_of_line
// requires: pool, Place, Seen, join_rows, KERNEL_1, STRIDE_1, DILATION_1

//// window_lines: Lines of X may lie in the padding.
// requires: line_at, line_windows, STRIDE_0
fn windows_of_line(out_line: u32, column: i32, channel: u32) -> Seen {
  let planes = out_line / pool.axes[1].output;
  var seen: Seen;
  seen.outer = planes / pool.axes[0].output;
  seen.plane = seen.outer * pool.axes[0].input * pool.axes[1].input * pool.axes[2].input;
  var place: Place;
  place.column = column;
  place.channel = channel;
  place.plane = seen.plane;
  place.depth = i32((planes - seen.outer * pool.axes[0].output) * STRIDE_0) - pool.axes[0].pad_begin;
  let top = i32((out_line - planes * pool.axes[1].output) * STRIDE_1) - pool.axes[1].pad_begin;
  seen.first_line = line_at(place, place.depth, top);
  seen.best = line_windows(place, top, 0u);
  for (var tap = 1u; tap < KERNEL_1; tap++) {
    seen.best = join_rows(seen.best, line_windows(place, top + i32(tap * DILATION_1), tap));
  }
  return seen;
}

//// window_lines_even: Lines are numbered in X as in Y. No window has a line in the padding, and every STRIDE_1 lines
// of X belong to one line of outputs.
// requires: located_windows
fn windows_of_line(out_line: u32, column: i32, channel: u32) -> Seen {
  let pitch = pool.axes[2].input;
  let planes = out_line / pool.axes[1].output;
  var seen: Seen;
  seen.outer = planes / pool.axes[0].output;
  seen.plane = planes * pool.axes[1].input * pitch;
  seen.first_line = out_line * STRIDE_1 * pitch;
  var place: Place;
  place.column = column;
  place.channel = channel;
  seen.best = located_windows(seen.first_line, place, 0u);
  for (var tap = 1u; tap < KERNEL_1; tap++) {
    seen.best = join_rows(seen.best, located_windows(seen.first_line + tap * DILATION_1 * pitch, place, tap));
  }
  return seen;
}
