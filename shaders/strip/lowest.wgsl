// The lowest lane, for what lies outside.
// provides: lowest_lane

//// lowest_integer: The lowest lane of integers.
// requires: Lane, lane_from, SMALLEST_RAW, MIRROR
fn lowest_lane() -> Lane {
  return lane_from(SMALLEST_RAW ^ MIRROR);
}

//// lowest_float: That of floats, but for NaN.
// requires: Lane, INFINITE, BELOW
fn lowest_lane() -> Lane {
  return i32(0x80000000u | (INFINITE << BELOW));
}
