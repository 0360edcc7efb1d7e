// The maxima of a line of X.
// provides: line_windows
// requires: Place, Row, line_at, located_windows

//// lines_deep: The maxima of a line of X at all depths of the windows. The order number of a line is its number plus
// ORDER_LINES for each depth before it.
// requires: join_rows, KERNEL_0, DILATION_0, ORDER_LINES
// Joins the maxima of the line at one more depth to those of the depths before it.
fn with_depth(row: Row, place: Place, line: i32, number: u32, tap: u32) -> Row {
  let deeper = line_at(place, place.depth + i32(tap * DILATION_0), line);
  return join_rows(row, located_windows(deeper, place, tap * ORDER_LINES + number));
}

// The first depths are unrolled, since a short loop costs more than its taps, both when the shader runs and when it is
// compiled.
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

//// lines_flat: The maxima of a line of X, where windows have a single depth.
fn line_windows(place: Place, line: i32, number: u32) -> Row {
  return located_windows(line_at(place, place.depth, line), place, number);
}
