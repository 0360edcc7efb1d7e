// The window's attributes and the NaN policy.

//// uniform: Read from the uniform: one pipeline for every configuration.
// provides: pass_axis, nan_policy
// requires: pool, Axis
fn pass_axis(a: u32) -> Axis {
  return pool.axes[a];
}

fn nan_policy() -> u32 {
  return pool.nan_policy;
}

//// constant when known(KERNEL_2): Constants of the prelude: one pipeline per configuration. Extents, pads and tables
// still come from the uniform.
// provides: pass_axis
// requires: pool, Axis, KERNEL_0, KERNEL_1, KERNEL_2, STRIDE_0, STRIDE_1, STRIDE_2, DILATION_0, DILATION_1, DILATION_2, KIND_0, KIND_1, KIND_2
fn pass_axis(a: u32) -> Axis {
  var axis = pool.axes[a];
  switch a {
    case 0u: {
      axis.kernel = KERNEL_0;
      axis.stride = STRIDE_0;
      axis.dilation = DILATION_0;
      axis.kind = KIND_0;
    }
    case 1u: {
      axis.kernel = KERNEL_1;
      axis.stride = STRIDE_1;
      axis.dilation = DILATION_1;
      axis.kind = KIND_1;
    }
    default: {
      axis.kernel = KERNEL_2;
      axis.stride = STRIDE_2;
      axis.dilation = DILATION_2;
      axis.kind = KIND_2;
    }
  }
  return axis;
}

//// policy when known(NAN_POLICY): The policy alone, a constant of the prelude.
// provides: nan_policy
// requires: NAN_POLICY
fn nan_policy() -> u32 {
  return NAN_POLICY;
}
