// The uniform of every pooling kernel.
// provides: pool, Pool, Digit, Slide, activation_parameters
// requires: Axis, Activation, Divisor
// Windows that slide along one axis, the third axis of the pass.
struct Slide {
  // The number of interleaved classes: with a dilation, only outputs whose distance is a multiple of this number share
  // taps.
  classes: Divisor,
  // Invocations per class along the axis.
  runs: Divisor,
  // The number of invocations among which the extent inside the axis is divided.
  cells: Divisor,
  // The divisors of an output's number inside the axis: the channels inside the innermost spatial axis, and the outputs
  // of that axis.
  channels: Divisor,
  row: Divisor,
  // The row pitch of scratch memory, and the used elements of a row.
  pitch: Divisor,
  extent: u32,
  // The strides of lines and of outputs in the binding that is written.
  out_line: u32,
  out_inner: u32,
  // The output with which the written binding begins.
  out_first: u32,
  // Elements from a window's first tap to its additional last tap, if the pass has one.
  last_tap: u32,
  // The index of this group's flag, or of its first note.
  flag: u32,
  // Notes per row.
  notes: u32,
  reserved: u32,
}

// A digit of a mixed-radix number, fastest first, with its stride.
struct Digit {
  radix: Divisor,
  stride: vec2<u32>,
  reserved: vec2<u32>,
}

struct Pool {
  // The number of elements of Y, candidates or accumulators that this dispatch computes.
  outputs: u32,
  // The stride of the innermost axis of this pass, in elements.
  inner: u32,
  // Workgroups along x. The numbering of workgroups continues along y.
  grid_width: u32,
  nan_policy: u32,
  empty_value: vec2<u32>,
  lowest_value: vec2<u32>,
  // The index of an empty window: a constant, or an offset from the flat index of (n, c, 0, .., 0).
  empty_index: vec2<u32>,
  // The flat index of X's first element.
  index_base: vec2<u32>,
  empty_kind: u32,
  spatial_axes: u32,
  index_digits: u32,
  store_digits: u32,
  empty_digits: u32,
  // The stride of the innermost spatial axis of Y: 1, or C for NHWC.
  channels_inner: u32,
  // This dispatch's first output, counted in the pass.
  output_first: u32,
  // The first element of each binding: of X, of the index tensor, of the candidates or accumulators that are read.
  x_first: u32,
  store_first: u32,
  in_first: u32,
  // The flat index of the origin of X's first plane in the whole tensor, where X is a tile of it.
  empty_base: vec2<u32>,
  // Whether this dispatch reads the first part of its outputs' windows, where windows are reduced in parts.
  fresh: u32,
  // The number of blocks of this dispatch, and its first block, where an invocation computes a block of outputs.
  blocks: u32,
  block_first: u32,
  channels: u32,
  // The index strides of the batch and of the channel, where channels are innermost.
  index_outer: vec2<u32>,
  index_channel: vec2<u32>,
  outputs_of_channel: u32,
  reserved_1: u32,
  reserved_2: u32,
  reserved_3: u32,
  slide: Slide,
  // The range of taps on each axis that this dispatch reads, where windows are reduced in parts.
  tap_from: vec4<u32>,
  tap_to: vec4<u32>,
  activation: Activation,
  // The divisors of an output's number: the extent inside the axes, then the outputs of each axis, the last axis first.
  // In kernels that compute blocks, the divisors of an invocation's number.
  split: array<Divisor, 4>,
  // Three axes of this pass, then the original spatial axes, innermost first.
  axes: array<Axis, 13>,
  // Digits from an element's position in X to its index.
  index: array<Digit, 12>,
  // Digits from an output's number to its position in the index tensor.
  store: array<Digit, 12>,
  // Digits from an output's number to the flat index of (n, c, 0, .., 0).
  empty: array<Digit, 12>,
  // Digits from an output's number to its spatial coordinates, innermost first, with the index strides of these axes.
  spatial: array<Digit, 10>,
}

@group(0) @binding(0) var<uniform> pool: Pool;

fn activation_parameters() -> Activation {
  return pool.activation;
}
