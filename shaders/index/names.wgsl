// The elements that indices name: `names` loads four indices from a position on, where `last` is the last position of
// the index tensor, and `name` loads one.

//// named: What is known of four indices, from their low and high words.
// provides: Names, names_of, place_of_name
// requires: pick
// For an index that names no element, `place` is a number that is no element's index. It is only compared with indices
// of elements, which stay below 2^31.
struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

fn names_of(low: vec4<u32>, high: vec4<u32>) -> Names {
  let none = vec4<u32>(0xffffffffu);
  return Names(pick(none, low, high == vec4<u32>()), (low & high) == none);
}

// The place of one index.
fn place_of_name(index: vec2<u32>) -> u32 {
  return select(0xffffffffu, index.x, index.y == 0u);
}

//// names_i32 when READS == 4 && !WIDE_INDICES: Of 32 bits, `step` apart.
// provides: names, name, indices
// requires: Names
@group(0) @binding(3) var<storage, read> indices: array<u32>;

fn names(position: u32, step: u32, last: u32) -> Names {
  let at = min(vec4<u32>(position) + vec4<u32>(0u, 1u, 2u, 3u) * step, vec4<u32>(last));
  let low = vec4<u32>(indices[at.x], indices[at.y], indices[at.z], indices[at.w]);
  return Names(low, low == vec4<u32>(0xffffffffu));
}

fn name(position: u32) -> u32 {
  return indices[position];
}

//// names_i32_wide when READS == 4 && WIDE_INDICES: Of 32 bits, loaded as one vector.
// provides: names, name, indices
// requires: Names
@group(0) @binding(3) var<storage, read> indices: array<vec4<u32>>;

fn names(position: u32, step: u32, last: u32) -> Names {
  let low = indices[position >> 2u];
  return Names(low, low == vec4<u32>(0xffffffffu));
}

fn name(position: u32) -> u32 {
  return indices[position >> 2u][position & 3u];
}

//// names_i64 when READS == 8 && !WIDE_INDICES: Of 64 bits, `step` apart.
// provides: names, name, indices
// requires: Names, names_of, place_of_name
@group(0) @binding(3) var<storage, read> indices: array<vec2<u32>>;

fn names(position: u32, step: u32, last: u32) -> Names {
  let at = min(vec4<u32>(position) + vec4<u32>(0u, 1u, 2u, 3u) * step, vec4<u32>(last));
  let a = indices[at.x];
  let b = indices[at.y];
  let c = indices[at.z];
  let d = indices[at.w];
  return names_of(vec4<u32>(a.x, b.x, c.x, d.x), vec4<u32>(a.y, b.y, c.y, d.y));
}

fn name(position: u32) -> u32 {
  return place_of_name(indices[position]);
}

//// names_i64_wide when READS == 8 && WIDE_INDICES: Of 64 bits, loaded two to a vector.
// provides: names, name, indices
// requires: Names, names_of, place_of_name
@group(0) @binding(3) var<storage, read> indices: array<vec4<u32>>;

fn names(position: u32, step: u32, last: u32) -> Names {
  let pair = (position >> 2u) << 1u;
  let first = indices[pair];
  let second = indices[pair + 1u];
  return names_of(vec4<u32>(first.xz, second.xz), vec4<u32>(first.yw, second.yw));
}

fn name(position: u32) -> u32 {
  let pair = indices[position >> 1u];
  return place_of_name(select(pair.xy, pair.zw, (position & 1u) == 1u));
}
