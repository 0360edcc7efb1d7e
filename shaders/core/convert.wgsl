// The uniform of an index conversion.
// provides: convert, Convert, PlaceDigit, ConvertDigit
// requires: nothing
// A digit of an index's rank in (n, c, spatial) order, fastest first: what one step adds to where the index stands in either
// tensor.
struct PlaceDigit {
  radix: u32,
  from_stride: u32,
  to_stride: u32,
  // 3 the channel, 4 the batch, anything else an axis.
  coordinate: u32,
}

// A digit of an index in the first convention, fastest first.
struct ConvertDigit {
  radix: u32,
  // 3 the channel, 4 the batch, anything else an axis.
  coordinate: u32,
  // What one step adds in the second convention.
  stride: vec2<u32>,
}

struct Convert {
  // Indices of this dispatch.
  count: u32,
  grid_width: u32,
  place_digits: u32,
  digits: u32,
  // Valid indices are below this.
  unit: vec2<u32>,
  // Whether the second convention names the batch and the channel.
  names_n: u32,
  names_c: u32,
  // What the plane's own batch and channel add, where the first convention does not name them.
  own_n: vec2<u32>,
  own_c: vec2<u32>,
  // The rank of the first of them, what the bindings begin with, and how many indices the one that is read holds.
  rank_first: u32,
  from_first: u32,
  to_first: u32,
  from_count: u32,
  place: array<PlaceDigit, 12>,
  index: array<ConvertDigit, 12>,
}

@group(0) @binding(0) var<uniform> convert: Convert;
