// X as an array of vectors of two 64-bit elements each.
// provides: x, one_at, four_at
// requires: Elements
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;

fn one_at(position: u32) -> vec2<u32> {
  let two = x[position >> 1u];
  return select(two.zw, two.xy, (position & 1u) == 0u);
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  let low = x[position >> 1u];
  let high = x[(position >> 1u) + 1u];
  return Elements(low.xy, low.zw, high.xy, high.zw);
}
