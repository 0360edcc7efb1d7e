// The maxima of a line of X at all depths of the windows. All depths of a line share the line's number, plus
// ORDER_LINES per depth.
// provides: line_windows
// requires: Place, Row, line_at, located_windows, join_rows, KERNEL_0, DILATION_0, ORDER_LINES
fn line_windows(place: Place, line: i32, number: u32) -> Row {
  var row = located_windows(line_at(place, place.depth, line), place, number);
  for (var tap = 1u; tap < KERNEL_0; tap++) {
    let deeper = line_at(place, place.depth + i32(tap * DILATION_0), line);
    row = join_rows(row, located_windows(deeper, place, tap * ORDER_LINES + number));
  }
  return row;
}
