// Whether a window that begins with a NaN was met.
// provides: met_nan

//// met_here when FIRST: Whether one of the invocation's own windows begins with a NaN.
// requires: has_met
fn met_nan() -> bool {
  return has_met();
}

//// met_before when !FIRST: Whether any window of this group of dispatches begins with a NaN, from the flag that the
// group's first pass set.
// requires: flags_in, pool
fn met_nan() -> bool {
  return flags_in[pool.slide.flag] != 0u;
}
