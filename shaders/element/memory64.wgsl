// X as an array of pairs of words that hold one 64-bit element each.
// provides: x, load
// requires: Raw
@group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;

fn load(position: u32) -> Raw {
  return x[position];
}
