// The lowest lane, for what lies outside.
// provides: lowest_lane

//// lowest_integer when !FLOAT: The lowest lane of integers.
// requires: Lane, lane_from, SMALLEST_RAW, MIRROR
fn lowest_lane() -> Lane {
  return lane_from(SMALLEST_RAW ^ MIRROR);
}

//// lowest_float when FLOAT: That of floats, but for NaN; under IGNORE that of NaN, since -infinity is an element.
// requires: Lane, INFINITE, BELOW, ABSENT, NAN_POLICY, IGNORE
fn lowest_lane() -> Lane {
  var lowest = i32(0x80000000u | (INFINITE << BELOW));
  if (NAN_POLICY == IGNORE) {
    lowest = ABSENT;
  }
  return lowest;
}
