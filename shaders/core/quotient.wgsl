// Division of 31-bit numbers by a divisor from the host: a multiplication and a shift. GPUs have no instruction for an
// integer division, and software drivers divide lane by lane.
//
// The method is that of Granlund and Montgomery ("Division by invariant integers using multiplication", 1994), and
// src/uniform.rs proves it for every number below 2^31.
// provides: Divisor, quotient
// requires: nothing
struct Divisor {
  divisor: u32,
  multiplier: u32,
  shift: u32,
  reserved: u32,
}

// The high word of a product: WGSL has no 64-bit integers.
fn multiply_high(a: u32, b: u32) -> u32 {
  let a_low = a & 0xffffu;
  let a_high = a >> 16u;
  let b_low = b & 0xffffu;
  let b_high = b >> 16u;
  let middle = a_low * b_high + ((a_low * b_low) >> 16u);
  let upper = a_high * b_low + (middle & 0xffffu);
  return a_high * b_high + (middle >> 16u) + (upper >> 16u);
}

fn quotient(number: u32, by: Divisor) -> u32 {
  return multiply_high(number << 1u, by.multiplier) >> by.shift;
}
