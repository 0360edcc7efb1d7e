// What four 64-bit indices, a step from one to the next, name.
// Any value that is no place of Y will do for an index that names none: it is compared with places alone, and these stay below
// 2^31.
// provides: Names, names, name, indices
// requires: pick
@group(0) @binding(3) var<storage, read> indices: array<vec2<u32>>;

struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

// From a position on, in an index tensor of which `last` is the last place.
fn names(position: u32, step: u32, last: u32) -> Names {
  let at = min(vec4<u32>(position) + vec4<u32>(0u, 1u, 2u, 3u) * step, vec4<u32>(last));
  let a = indices[at.x];
  let b = indices[at.y];
  let c = indices[at.z];
  let d = indices[at.w];
  let low = vec4<u32>(a.x, b.x, c.x, d.x);
  let high = vec4<u32>(a.y, b.y, c.y, d.y);
  let none = vec4<u32>(0xffffffffu);
  return Names(pick(none, low, high == vec4<u32>()), (low & high) == none);
}

// What one index names.
fn name(position: u32) -> u32 {
  let index = indices[position];
  return select(0xffffffffu, index.x, index.y == 0u);
}
