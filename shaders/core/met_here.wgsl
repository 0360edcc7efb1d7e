// Whether one of the windows that an invocation has looked at itself begins with a NaN.
// provides: met_nan
// requires: has_met
fn met_nan() -> bool {
  return has_met();
}
