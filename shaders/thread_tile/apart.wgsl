// The maxima of neighbouring windows in one line of X, where windows share few elements or none: tap by tap.
// provides: row_windows
// requires: Row, combine_rows, lanes_at, KERNEL_2, DILATION_2
fn row_windows(line: u32, column: i32, order: u32) -> Row {
  var best = lanes_at(line, column, order);
  for (var tap = 1u; tap < KERNEL_2; tap++) {
    best = combine_rows(best, lanes_at(line, column + i32(tap * DILATION_2), order + tap * DILATION_2));
  }
  return best;
}
