// X as an array of words that hold four 8-bit elements each.
// provides: x, one_at, four_at
// requires: Elements, elements_of, extract
@group(0) @binding(1) var<storage, read> x: array<u32>;

fn one_at(position: u32) -> u32 {
  return extract(x[position >> 2u], position & 3u);
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  return elements_of(x[position >> 2u]);
}
