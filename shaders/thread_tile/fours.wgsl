// X as an array of vectors, to read four elements at once.

//// ones: X one element at a time.
// provides: one_at
// requires: Raw, load
fn one_at(position: u32) -> Raw {
  return load(position);
}

//// fours8 when FOURS && BYTES == 1: Of four 8-bit elements in a word.
// provides: one_at
// requires: x, extract
fn one_at(position: u32) -> u32 {
  return extract(x[position >> 2u], position & 3u);
}

//// fours16 when FOURS && BYTES == 2: Of four 16-bit elements in two words.
// provides: one_at
// requires: x, extract
fn one_at(position: u32) -> u32 {
  return extract(x[position >> 2u][(position >> 1u) & 1u], position & 1u);
}

//// fours32 when FOURS && BYTES == 4: Of four 32-bit elements.
// provides: one_at
// requires: x
fn one_at(position: u32) -> u32 {
  return x[position >> 2u][position & 3u];
}

//// fours when FOURS && BYTES <= 4: What vectors of four elements share.
// provides: x, four_at, quad_at
// requires: Elements, Vector, elements_of
@group(0) @binding(1) var<storage, read> x: array<Vector>;

// A vector by its number.
fn quad_at(number: u32) -> Elements {
  return elements_of(x[number]);
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  return quad_at(position >> 2u);
}

//// fours64 when FOURS && BYTES == 8: Of two 64-bit elements.
// provides: x, one_at, four_at
// requires: Elements
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;

fn one_at(position: u32) -> vec2<u32> {
  let two = x[position >> 1u];
  return select(two.xy, two.zw, (position & 1u) == 1u);
}

// Four elements; `position` is a multiple of four.
fn four_at(position: u32) -> Elements {
  let pair = (position >> 2u) << 1u;
  let low = x[pair];
  let high = x[pair + 1u];
  return Elements(low.xy, low.zw, high.xy, high.zw);
}
