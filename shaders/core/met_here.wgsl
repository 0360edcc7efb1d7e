// Whether one of the invocation's own windows begins with a NaN.
// provides: met_nan
// requires: has_met
fn met_nan() -> bool {
  return has_met();
}
