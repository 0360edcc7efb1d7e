// 64-bit two's complement arithmetic in pairs of words, the low one first.
// provides: add, multiply
// requires: nothing
fn add(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// Modulo 2^64, so that negative strides and offsets are correct.
fn multiply(a: vec2<u32>, b: u32) -> vec2<u32> {
  let a_low = a.x & 0xffffu;
  let a_high = a.x >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let lowest = a_low * b_low;
  let middle = a_low * b_high + (lowest >> 16u);
  let upper = a_high * b_low + (middle & 0xffffu);
  let low = (lowest & 0xffffu) | (upper << 16u);
  let high = a_high * b_high + (middle >> 16u) + (upper >> 16u);
  return vec2<u32>(low, high + a.y * b);
}
