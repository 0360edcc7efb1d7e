// The NaN policy as a constant of the prelude, for kernels whose windows are not described by `pass_axis`.
// provides: nan_policy
// requires: NAN_POLICY
fn nan_policy() -> u32 {
  return NAN_POLICY;
}
