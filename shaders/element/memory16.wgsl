// X as an array of words that hold 16-bit elements.
// provides: x, load
// requires: Raw
@group(0) @binding(1) var<storage, read> x: array<u32>;

fn load(position: u32) -> Raw {
  return (x[position >> 1u] >> ((position & 1u) * 16u)) & 0xffffu;
}
