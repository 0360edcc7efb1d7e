// The numbers of digits into which a position or an output's number is split to find an index or its position, from the
// uniform.
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
