// The numbers of digits into which a position or an output's number is split to find an index or its position, as
// constants of the prelude: compilers unroll loops over them. Where every window has a winner, EMPTY_DIGITS is zero.
// provides: index_digits, store_digits, empty_digits, clamped_axes
// requires: INDEX_DIGITS, STORE_DIGITS, EMPTY_DIGITS, CLAMPED_AXES
fn index_digits() -> u32 {
  return INDEX_DIGITS;
}

fn store_digits() -> u32 {
  return STORE_DIGITS;
}

fn empty_digits() -> u32 {
  return EMPTY_DIGITS;
}

fn clamped_axes() -> u32 {
  return CLAMPED_AXES;
}
