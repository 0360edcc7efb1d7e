// X as an array, by the size of its elements.
// provides: x, load
// requires: Raw

//// memory8: Words that hold four 8-bit elements.
@group(0) @binding(1) var<storage, read> x: array<u32>;

fn load(position: u32) -> Raw {
  return (x[position >> 2u] >> ((position & 3u) * 8u)) & 0xffu;
}

//// memory16: Words that hold two 16-bit elements.
@group(0) @binding(1) var<storage, read> x: array<u32>;

fn load(position: u32) -> Raw {
  return (x[position >> 1u] >> ((position & 1u) * 16u)) & 0xffffu;
}

//// memory32: Words that are 32-bit elements.
@group(0) @binding(1) var<storage, read> x: array<u32>;

fn load(position: u32) -> Raw {
  return x[position];
}

//// memory64: Pairs of words that are 64-bit elements.
@group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;

fn load(position: u32) -> Raw {
  return x[position];
}
