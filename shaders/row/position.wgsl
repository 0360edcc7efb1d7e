// A column of a line as a position in X.
// provides: position_of
// requires: pool, CHANNELS_INSIDE
fn position_of(line: u32, column: u32) -> u32 {
  var inside = column;
  if (CHANNELS_INSIDE != 0u) {
    inside = column * pool.inner;
  }
  return line + inside;
}
