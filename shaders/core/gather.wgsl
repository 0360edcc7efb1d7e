// when GATHERS: The uniform of the gathering unpool: windows, and the affine maps of indices.
// provides: gather, Gather, Strides, CoordinateDigit, flat, activation_parameters
// requires: Axis, Activation, Divisor
// The strides of n, c and each of the three axes.
struct Strides {
  n: u32,
  c: u32,
  axis_0: u32,
  axis_1: u32,
  axis_2: u32,
  reserved_0: u32,
  reserved_1: u32,
  reserved_2: u32,
}

// A digit of an index, fastest first. `coordinate` is 0 to 2 for an axis, 3 for the channel, 4 for the batch; `stride` is
// its stride in Y.
struct CoordinateDigit {
  radix: Divisor,
  coordinate: u32,
  stride: u32,
  reserved_0: u32,
  reserved_1: u32,
}

struct Gather {
  outputs: u32,
  sources: u32,
  grid_width: u32,
  // The stride of the innermost spatial axis: 1, or C for NHWC.
  inner: u32,
  // The channels that the outer number of an element includes: C, or 1 for NHWC.
  outer_channels: u32,
  // Valid indices are below this.
  index_limit: u32,
  skip_minus_one: u32,
  digits: u32,
  // The number of invocations that have work.
  blocks: u32,
  channels: u32,
  // Whether bad indices are reported.
  report: u32,
  // The strides in Y of a source's own n and c, where indices do not count them.
  own_n: u32,
  own_c: u32,
  reserved_0: u32,
  reserved_1: u32,
  reserved_2: u32,
  activation: Activation,
  // From a coordinate of Y to the windows that cover it.
  covering: array<Axis, 3>,
  // From a source to its window.
  windows: array<Axis, 3>,
  // The strides from coordinates to an element's index, and to the position of a source's index in the index tensor.
  value: Strides,
  stored: Strides,
  index: array<CoordinateDigit, 5>,
  // The divisors from an invocation's number to its cells: quads of channels, runs along the last axis, cells along the
  // second and the first axis, and the channels that the outer number includes; then rows and planes of Y, the channels,
  // and the sources of a plane. The step that settles has the columns of Y in place of the runs.
  split: array<Divisor, 9>,
}

@group(0) @binding(0) var<uniform> gather: Gather;

fn flat(strides: Strides, n: u32, c: u32, at: vec3<u32>) -> u32 {
  return n * strides.n + c * strides.c + at.x * strides.axis_0 + at.y * strides.axis_1 + at.z * strides.axis_2;
}

fn activation_parameters() -> Activation {
  return gather.activation;
}
