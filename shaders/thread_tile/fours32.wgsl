// X as an array of vectors of four 32-bit elements each.
// provides: x, one_at, four_at
// requires: Elements, elements_of
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;

fn one_at(position: u32) -> u32 {
  return x[position >> 2u][position & 3u];
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  return elements_of(x[position >> 2u]);
}
