// What four 32-bit indices, read at once, name.
// Any value that is no place of Y will do for an index that names none: it is compared with places alone, and these stay below
// 2^31.
// provides: Names, names, name, indices
// requires: nothing
@group(0) @binding(3) var<storage, read> indices: array<vec4<u32>>;

struct Names {
  place: vec4<u32>,
  minus_one: vec4<bool>,
}

// From a position on, in an index tensor of which `last` is the last place.
fn names(position: u32, step: u32, last: u32) -> Names {
  let low = indices[position >> 2u];
  return Names(low, low == vec4<u32>(0xffffffffu));
}

// What one index names.
fn name(position: u32) -> u32 {
  return indices[position >> 2u][position & 3u];
}
