// What four 64-bit indices, read two at once, name.
// Any value that is no place of Y will do for an index that names none: it is compared with places alone, and these stay below
// 2^31.
// provides: Names, names, name, indices
// requires: pick
@group(0) @binding(3) var<storage, read> indices: array<vec4<u32>>;

struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

// From a position on, in an index tensor of which `last` is the last place.
fn names(position: u32, step: u32, last: u32) -> Names {
  let pair = (position >> 2u) << 1u;
  let first = indices[pair];
  let second = indices[pair + 1u];
  let low = vec4<u32>(first.xz, second.xz);
  let high = vec4<u32>(first.yw, second.yw);
  let none = vec4<u32>(0xffffffffu);
  return Names(pick(none, low, high == vec4<u32>()), (low & high) == none);
}

// What one index names.
fn name(position: u32) -> u32 {
  let pair = indices[position >> 1u];
  let index = select(pair.xy, pair.zw, (position & 1u) == 1u);
  return select(0xffffffffu, index.x, index.y == 0u);
}
