// Whether a window begins with a NaN in what a group of dispatches looks at, as its first pass has told.
// provides: met_nan
// requires: flags_in, pool
fn met_nan() -> bool {
  return flags_in[pool.slide.flag] != 0u;
}
