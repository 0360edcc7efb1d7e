// The uniform of an index conversion.
// provides: convert, Convert, PlaceDigit, ConvertDigit
// requires: nothing
// A digit of an index's rank in (n, c, spatial) order, fastest first, with its strides in the source and in the
// destination tensor.
struct PlaceDigit {
  radix: u32,
  from_stride: u32,
  to_stride: u32,
  // 3: the channel; 4: the batch; any other value: an axis.
  coordinate: u32,
}

// A digit of an index in the first convention, fastest first.
struct ConvertDigit {
  radix: u32,
  // 3: the channel; 4: the batch; any other value: an axis.
  coordinate: u32,
  // The digit's stride in the second convention.
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
  // Whether the second convention counts the batch and the channel.
  names_n: u32,
  names_c: u32,
  // The strides of the batch and of the channel in the second convention, where the first convention does not count
  // them.
  own_n: vec2<u32>,
  own_c: vec2<u32>,
  // The rank of this dispatch's first index, the first elements of the two bindings, and the number of indices in the
  // binding that is read.
  rank_first: u32,
  from_first: u32,
  to_first: u32,
  from_count: u32,
  place: array<PlaceDigit, 12>,
  index: array<ConvertDigit, 12>,
}

@group(0) @binding(0) var<uniform> convert: Convert;
