// X and Y as arrays of words that hold 32-bit elements.
// provides: x, y, load
// requires: Raw
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

fn load(position: u32) -> Raw {
  return x[position];
}
