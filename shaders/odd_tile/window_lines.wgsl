// Reduces whole windows, for one line of outputs. Lines are numbered across all planes, and lines of X may lie in the
// padding.
// provides: windows_of_line
// requires: pool, Place, Seen, join_rows, line_at, line_windows, STRIDE_0, STRIDE_1, KERNEL_1, DILATION_1
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
