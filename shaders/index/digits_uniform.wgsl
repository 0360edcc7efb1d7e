// How many digits a position or an output's number is split into, to compute an index or the position of an index. The
// counts are read from the uniform.
// provides: index_digits, store_digits, empty_digits, clamped_axes
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
