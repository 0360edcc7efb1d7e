// The elements that four 32-bit indices, loaded as one vector, name. For an index that names no element, `place` is a
// number that is no element's index. It is only compared with indices of elements, which stay below 2^31.
// provides: Names, names, name, indices
// requires: nothing
@group(0) @binding(3) var<storage, read> indices: array<vec4<u32>>;

struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

// Loads four indices from a position on; `last` is the last position of the index tensor.
fn names(position: u32, step: u32, last: u32) -> Names {
  let low = indices[position >> 2u];
  return Names(low, low == vec4<u32>(0xffffffffu));
}

// The element that one index names.
fn name(position: u32) -> u32 {
  return indices[position >> 2u][position & 3u];
}
