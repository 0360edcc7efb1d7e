// A column of a line as a position in X.
// provides: position_of
// requires: pool, CHANNELS_INSIDE
fn position_of(line: u32, column: u32) -> u32 {
  if (CHANNELS_INSIDE != 0u) {
    return line + column * pool.inner;
  }
  return line + column;
}
