// The elements that four 64-bit indices, loaded two to a vector, name. For an index that names no element, `place` is a
// number that is no element's index. It is only compared with indices of elements, which stay below 2^31.
// provides: Names, names, name, indices
// requires: pick
@group(0) @binding(3) var<storage, read> indices: array<vec4<u32>>;

struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

// Loads four indices from a position on; `last` is the last position of the index tensor.
fn names(position: u32, step: u32, last: u32) -> Names {
  let pair = (position >> 2u) << 1u;
  let first = indices[pair];
  let second = indices[pair + 1u];
  let low = vec4<u32>(first.xz, second.xz);
  let high = vec4<u32>(first.yw, second.yw);
  let none = vec4<u32>(0xffffffffu);
  return Names(pick(none, low, high == vec4<u32>()), (low & high) == none);
}

// The element that one index names.
fn name(position: u32) -> u32 {
  let pair = indices[position >> 1u];
  let index = select(pair.xy, pair.zw, (position & 1u) == 1u);
  return select(0xffffffffu, index.x, index.y == 0u);
}
