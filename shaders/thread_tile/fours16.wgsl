// X as an array of pairs of words that hold four 16-bit elements each.
// provides: x, one_at, four_at
// requires: Elements, elements_of, extract
@group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;

fn one_at(position: u32) -> u32 {
  return extract(x[position >> 2u][(position >> 1u) & 1u], position & 1u);
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  return elements_of(x[position >> 2u]);
}
