// The elements that four indices name. For an index that names no element, `place` is a number that is no element's
// index. It is only compared with indices of elements, which stay below 2^31.
// provides: Names, names, name, indices

//// names_i32: Of 32 bits, `step` apart.
@group(0) @binding(3) var<storage, read> indices: array<u32>;

struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

// Loads four indices from a position on; `last` is the last position of the index tensor.
fn names(position: u32, step: u32, last: u32) -> Names {
  let at = min(vec4<u32>(position) + vec4<u32>(0u, 1u, 2u, 3u) * step, vec4<u32>(last));
  let low = vec4<u32>(indices[at.x], indices[at.y], indices[at.z], indices[at.w]);
  return Names(low, low == vec4<u32>(0xffffffffu));
}

// The element that one index names.
fn name(position: u32) -> u32 {
  return indices[position];
}

//// names_i32_wide: Of 32 bits, loaded as one vector.
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

//// names_i64: Of 64 bits, `step` apart.
// requires: pick
@group(0) @binding(3) var<storage, read> indices: array<vec2<u32>>;

struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

// Loads four indices from a position on; `last` is the last position of the index tensor.
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

// The element that one index names.
fn name(position: u32) -> u32 {
  let index = indices[position];
  return select(0xffffffffu, index.x, index.y == 0u);
}

//// names_i64_wide: Of 64 bits, loaded two to a vector.
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
