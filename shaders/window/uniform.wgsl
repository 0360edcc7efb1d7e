// The window's attributes and the NaN policy, read from the uniform: one pipeline for every configuration.
// provides: pass_axis, nan_policy
// requires: pool, Axis
fn pass_axis(a: u32) -> Axis {
  return pool.axes[a];
}

fn nan_policy() -> u32 {
  return pool.nan_policy;
}
