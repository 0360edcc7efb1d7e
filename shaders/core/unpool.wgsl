// when known(SOURCE_DIGITS): The uniform of every unpooling kernel, and the conversions from a source's rank to its
// positions and from an index to its target.
// provides: unpool, Unpool, SourceDigit, TargetDigit, Source, source, named_target, says_nothing, PER_TURN, number_of, activation_parameters
// requires: Activation, Divisor, quotient, SOURCE_DIGITS, TARGET_DIGITS, FIRST_AXES
// A digit of a source's rank in (n, c, spatial) order, fastest first, with its strides. Beside it, the extent of X
// along the spatial axis of this number, counted from the innermost one.
struct SourceDigit {
  radix: Divisor,
  x_stride: u32,
  index_stride: u32,
  // The stride in Y of the source's own n or c, where indices do not count them.
  target_stride: u32,
  extent: u32,
}

// A digit of an index, fastest first, with its stride in Y. Beside it, the sources along the spatial axis of this
// number whose windows have the axis's first element: `count` of them, from `first` on, `step` apart.
struct TargetDigit {
  radix: Divisor,
  stride: u32,
  first: u32,
  step: u32,
  count: u32,
}

struct Unpool {
  // Sources and output elements of this dispatch.
  sources: u32,
  outputs: u32,
  grid_width: u32,
  // Valid indices are below this.
  index_limit: u32,
  skip_minus_one: u32,
  report: u32,
  // The rank of the first source, and the position of the first output element, of this dispatch.
  source_first: u32,
  output_first: u32,
  // The first elements of the bindings of X and of the indices, and the number of indices bound.
  x_first: u32,
  index_first: u32,
  index_count: u32,
  // Whether this is the first dispatch, and the last one, to which the owners of these output elements matter.
  begins: u32,
  ends: u32,
  // The invocations of this dispatch, which may be fewer than its items.
  invocations: u32,
  // The channels, and the strides of n and c in an index.
  channels: u32,
  base_n: u32,
  base_c: u32,
  reserved_0: u32,
  reserved_1: u32,
  reserved_2: u32,
  activation: Activation,
  source: array<SourceDigit, 12>,
  targets: array<TargetDigit, 12>,
}

@group(0) @binding(0) var<uniform> unpool: Unpool;

fn activation_parameters() -> Activation {
  return unpool.activation;
}

struct Source {
  x_position: u32,
  index_position: u32,
  target_base: u32,
}

// Without digits, X and the indices are in (n, c, spatial) order and indices count n and c: the rank is the position in
// both.
fn source(rank: u32) -> Source {
  var found = Source(rank, rank, 0u);
  if (SOURCE_DIGITS > 0u) {
    found = Source(0u, 0u, 0u);
    var rest = rank;
    for (var i = 0u; i < SOURCE_DIGITS; i++) {
      let digit = unpool.source[i];
      let over = quotient(rest, digit.radix);
      let value = rest - over * digit.radix.divisor;
      rest = over;
      found.x_position += value * digit.x_stride;
      found.index_position += value * digit.index_stride;
      found.target_base += value * digit.target_stride;
    }
  }
  return found;
}

// The position in Y of a valid index, relative to the first element that the index can address. Without digits it is
// the index itself.
fn named_target(index: u32) -> u32 {
  var found = index;
  if (TARGET_DIGITS > 0u) {
    found = 0u;
    var rest = index;
    for (var i = 0u; i < TARGET_DIGITS; i++) {
      let digit = unpool.targets[i];
      let over = quotient(rest, digit.radix);
      found += (rest - over * digit.radix.divisor) * digit.stride;
      rest = over;
    }
  }
  return found;
}

// Whether the index of a source says that nothing won its window: it names the first element of the source's plane,
// which the window lacks. FIRST_AXES is the number of spatial axes, or zero where no index says that.
fn says_nothing(rank: u32, index: u32) -> bool {
  var rest = rank;
  var has = true;
  for (var i = 0u; i < FIRST_AXES; i++) {
    let over = rest / unpool.source[i].extent;
    let sources = unpool.targets[i];
    // Before the first one, the difference wraps to a number beyond all sources.
    let ahead = rest - over * unpool.source[i].extent - sources.first;
    has = has && ahead % sources.step == 0u && ahead / sources.step < sources.count;
    rest = over;
  }
  let n = rest / unpool.channels;
  return !has && index == n * unpool.base_n + (rest - n * unpool.channels) * unpool.base_c;
}

// Items of an invocation in a turn of its loop. Neighbouring invocations access neighbouring words.
const PER_TURN: u32 = 8u;

fn number_of(first: u32, item: u32) -> u32 {
  return first + item * unpool.invocations;
}
