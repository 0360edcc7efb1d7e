// The maxima of a line of X at all depths of the windows. All depths of a line share the line's number, plus
// ORDER_LINES per depth.
// provides: line_windows
// requires: Place, Row, line_at, located_windows, join_rows, KERNEL_0, DILATION_0, ORDER_LINES
// The maxima of a line at a depth further down, joined to those above it.
fn with_depth(row: Row, place: Place, line: i32, number: u32, tap: u32) -> Row {
  let deeper = line_at(place, place.depth + i32(tap * DILATION_0), line);
  return join_rows(row, located_windows(deeper, place, tap * ORDER_LINES + number));
}

// The first depths are unrolled, since a short loop costs more than its taps, in the shader and in compilers.
fn line_windows(place: Place, line: i32, number: u32) -> Row {
  var row = located_windows(line_at(place, place.depth, line), place, number);
  row = with_depth(row, place, line, number, 1u);
  if (KERNEL_0 > 2u) {
    row = with_depth(row, place, line, number, 2u);
  }
  if (KERNEL_0 > 3u) {
    for (var tap = 3u; tap < KERNEL_0; tap++) {
      row = with_depth(row, place, line, number, tap);
    }
  }
  return row;
}
