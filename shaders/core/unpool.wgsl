// The uniform of every unpooling kernel, and the way from a source's rank to its places.
// provides: unpool, Unpool, SourceDigit, TargetDigit, Source, source, activation_parameters
// requires: Activation
// A digit of a source's rank in (n, c, spatial) order, fastest first, and what one step of it adds.
struct SourceDigit {
  radix: u32,
  x_stride: u32,
  index_stride: u32,
  // What the source's own n and c add to the target, where the index does not name them.
  target_stride: u32,
}

// A digit of an index, fastest first, and what one step of it adds to the target's position in Y.
struct TargetDigit {
  radix: u32,
  stride: u32,
  reserved_0: u32,
  reserved_1: u32,
}

struct Unpool {
  // Sources and output elements of this dispatch.
  sources: u32,
  outputs: u32,
  grid_width: u32,
  // Valid indices are below this.
  unit: u32,
  skip_minus_one: u32,
  report: u32,
  source_digits: u32,
  target_digits: u32,
  // The numbers of the first of them among all.
  source_first: u32,
  output_first: u32,
  // What the bindings of X and of the indices begin with, and how many indices the latter holds.
  x_first: u32,
  index_first: u32,
  index_count: u32,
  // Whether this dispatch is the first that deals with its outputs, so that those without an owner are zero.
  fresh: u32,
  // Whether the report is cleared.
  begins: u32,
  reserved: u32,
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

fn source(rank: u32) -> Source {
  var rest = rank;
  var found = Source();
  for (var i = 0u; i < unpool.source_digits; i++) {
    let digit = unpool.source[i];
    let value = rest % digit.radix;
    rest = rest / digit.radix;
    found.x_position += value * digit.x_stride;
    found.index_position += value * digit.index_stride;
    found.target_base += value * digit.target_stride;
  }
  return found;
}
