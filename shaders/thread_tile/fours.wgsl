// X as an array of vectors, to read four elements at once.
// provides: x, one_at, four_at
// requires: Elements

//// fours8: X as an array of words that hold four 8-bit elements each.
// requires: elements_of, extract
@group(0) @binding(1) var<storage, read> x: array<u32>;

fn one_at(position: u32) -> u32 {
  return extract(x[position >> 2u], position & 3u);
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  return elements_of(x[position >> 2u]);
}

//// fours16: X as an array of pairs of words that hold four 16-bit elements each.
// requires: elements_of, extract
@group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;

fn one_at(position: u32) -> u32 {
  return extract(x[position >> 2u][(position >> 1u) & 1u], position & 1u);
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  return elements_of(x[position >> 2u]);
}

//// fours32: X as an array of vectors of four 32-bit elements each.
// requires: elements_of
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;

fn one_at(position: u32) -> u32 {
  return x[position >> 2u][position & 3u];
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  return elements_of(x[position >> 2u]);
}

//// fours64: X as an array of vectors of two 64-bit elements each.
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
