// Whether any window of this group of dispatches begins with a NaN, from the flag that the group's first pass set.
// provides: met_nan
// requires: flags_in, pool
fn met_nan() -> bool {
  return flags_in[pool.slide.flag] != 0u;
}
