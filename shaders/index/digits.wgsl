// How many digits a position or an output's number is split into, to compute an index or the position of an index.
// provides: index_digits, store_digits, empty_digits, clamped_axes

//// digits_constant when known(INDEX_DIGITS): Constants of the prelude, so that compilers unroll loops over digits.
// Where every window has a winner, EMPTY_DIGITS is zero.
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

//// digits_uniform: Read from the uniform.
// requires: pool
fn index_digits() -> u32 {
  return pool.index_digits;
}

fn store_digits() -> u32 {
  return pool.store_digits;
}

fn empty_digits() -> u32 {
  return pool.empty_digits;
}

fn clamped_axes() -> u32 {
  return pool.spatial_axes;
}
