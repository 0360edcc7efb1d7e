// The uniform of every pooling kernel.
// provides: pool, Pool, Digit, Slide, activation_parameters
// requires: Axis, Activation, Divisor
// Windows that slide along one axis: the third of the pass.
struct Slide {
  // Outputs so far apart share taps: the interleaved axes of which one with dilation consists.
  classes: Divisor,
  // Invocations along a class.
  runs: Divisor,
  // Invocations beside each other inside the axis.
  cells: Divisor,
  // Of places inside: elements between neighbours on the innermost spatial axis, and outputs of that axis.
  channels: Divisor,
  row: Divisor,
  // Elements of a row as passes keep it, and those of them that count.
  pitch: Divisor,
  extent: u32,
  // Elements from a line of what is written to the next, and from an output to the next.
  out_line: u32,
  out_inner: u32,
  // The number of the output that the written binding begins with.
  out_first: u32,
  // Elements from a window's first tap to its last, if that one is apart from the others.
  last_tap: u32,
  // Which flag is that of this group of dispatches, or the number of its first note.
  flag: u32,
  // Notes of a row.
  notes: u32,
  reserved: u32,
}

// A digit of a mixed-radix number, fastest first, and what one step of it adds.
struct Digit {
  radix: Divisor,
  stride: vec2<u32>,
  reserved: vec2<u32>,
}

struct Pool {
  // Elements of Y, candidates or accumulators of this dispatch.
  outputs: u32,
  // Elements between neighbours on the innermost axis of this pass.
  inner: u32,
  // Workgroups along x; those along y continue the count.
  grid_width: u32,
  nan_policy: u32,
  empty_value: vec2<u32>,
  lowest_value: vec2<u32>,
  // A constant, or what is added to the flat index of (n, c, 0, .., 0).
  empty_index: vec2<u32>,
  // The flat index of X's first element.
  index_base: vec2<u32>,
  empty_kind: u32,
  spatial_axes: u32,
  index_digits: u32,
  store_digits: u32,
  empty_digits: u32,
  // Elements between neighbours on the innermost spatial axis of Y: 1, or C for NHWC.
  channels_inner: u32,
  // The number of this dispatch's first output among all of the pass.
  output_first: u32,
  // What the bindings begin with: an element of X, an index, a candidate or accumulator that is read.
  x_first: u32,
  store_first: u32,
  in_first: u32,
  // The flat index of (0, 0, 0, .., 0), where X is a part of what the indices count: of X's first plane, not of X.
  empty_base: vec2<u32>,
  // Whether this dispatch is the first that looks at its outputs' windows, where they are looked at in parts.
  fresh: u32,
  // Blocks of this dispatch and the number of the first, where an invocation computes a block of outputs.
  blocks: u32,
  block_first: u32,
  // Lines of outputs that an invocation walks down, where it does.
  walk: u32,
  // How far the index of an element lies from that of the batch item before, and of the channel before, where channels are innermost.
  index_outer: vec2<u32>,
  index_channel: vec2<u32>,
  // Channels, and the outputs of one.
  channels: u32,
  outputs_of_channel: u32,
  reserved_1: u32,
  reserved_2: u32,
  slide: Slide,
  // The part of each window that this dispatch looks at: taps on each axis, where windows are looked at in parts.
  tap_from: vec4<u32>,
  tap_to: vec4<u32>,
  activation: Activation,
  // What an output's number is divided by: the elements inside the axes, then the outputs of each axis, the last one first. In
  // kernels that compute blocks, what an invocation's number is divided by.
  split: array<Divisor, 4>,
  // Three axes of this pass, then the original spatial axes, innermost first.
  axes: array<Axis, 13>,
  // From an element's position in X to its index.
  index: array<Digit, 12>,
  // From an output's number to its place in the index tensor.
  store: array<Digit, 12>,
  // From an output's number to the flat index of (n, c, 0, .., 0).
  empty: array<Digit, 12>,
  // From an output's number to its spatial coordinates, innermost first, and the index strides of those axes.
  spatial: array<Digit, 10>,
}

@group(0) @binding(0) var<uniform> pool: Pool;

fn activation_parameters() -> Activation {
  return pool.activation;
}
