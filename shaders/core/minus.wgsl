// The difference of two elements, in integers alone: the same bits on every driver. Integers stay in their range.
// provides: minus

//// minus_unsigned: Unsigned integers of up to 32 bits.
// requires: nothing
fn minus(a: u32, b: u32) -> u32 {
  return a - min(a, b);
}

//// minus_signed: Signed integers of up to 32 bits, at the top of a word, where they overflow as 32 bits do.
// requires: OUTPUTS
fn minus(a: u32, b: u32) -> u32 {
  let unused = 32u - 32u / OUTPUTS;
  let minuend = a << unused;
  let subtrahend = b << unused;
  let wrapped = minuend - subtrahend;
  let overflows = (((minuend ^ subtrahend) & (minuend ^ wrapped)) >> 31u) == 1u;
  return select(wrapped, 0x7fffffffu + (minuend >> 31u), overflows) >> unused;
}

//// minus_unsigned64: Unsigned integers of 64 bits.
// requires: nothing
fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let borrow = u32(a.x < b.x);
  let below = a.y < b.y || (a.y == b.y && borrow == 1u);
  return select(vec2<u32>(a.x - b.x, a.y - b.y - borrow), vec2<u32>(0u, 0u), below);
}

//// minus_signed64: Signed integers of 64 bits.
// requires: nothing
fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let high = a.y - b.y - u32(a.x < b.x);
  let overflows = (((a.y ^ b.y) & (a.y ^ high)) >> 31u) == 1u;
  let negative = a.y >> 31u;
  return select(vec2<u32>(a.x - b.x, high), vec2<u32>(negative - 1u, 0x7fffffffu + negative), overflows);
}

//// minus_f32: By the rules of IEEE 754. WGSL does not promise them for overflow, NaN, subnormals and signs of zeros.
// requires: SIGN, MAGNITUDE, INFINITE
// A number is its significand times a power of two: the biased exponent, which is 1 for subnormals too, and 24 bits.
fn exponent(number: u32) -> u32 {
  return max((number & MAGNITUDE) >> 23u, 1u);
}

// Three more bits, for rounding.
fn significand(number: u32) -> u32 {
  let hidden = u32((number & MAGNITUDE) >= 0x800000u) << 23u;
  return ((number & 0x7fffffu) | hidden) << 3u;
}

fn minus(a: u32, b: u32) -> u32 {
  // The sum of a and -b, the larger magnitude first.
  let other = b ^ SIGN;
  let swapped = (other & MAGNITUDE) > (a & MAGNITUDE);
  let large = select(a, other, swapped);
  let small = select(other, a, swapped);
  // What is shifted out of the smaller one stays as its lowest bit.
  let shift = min(exponent(large) - exponent(small), 27u);
  let aligned = significand(small);
  let addend = (aligned >> shift) | u32((aligned & ((1u << shift) - 1u)) != 0u);
  let opposite = ((large ^ small) >> 31u) == 1u;
  let sum = select(significand(large) + addend, significand(large) - addend, opposite);
  // The leading bit belongs at bit 26. The sum may reach bit 27; to the left it is shifted as far as the exponent goes.
  let carried = sum >> 27u;
  let up = min(countLeadingZeros(sum) + carried - 5u, exponent(large) - 1u);
  let number = ((sum >> carried) | (sum & carried)) << up;
  // The leading bit adds 1 to the exponent. Rounding is to nearest, ties to even, and may carry into the exponent.
  let packed = ((exponent(large) + carried - up - 1u) << 23u) + (number >> 3u);
  let rest = number & 7u;
  let rounded = packed + u32(rest > 4u || (rest == 4u && (packed & 1u) == 1u));
  var difference = (large & SIGN) | min(rounded, INFINITE);
  if (sum == 0u) {
    // Only -0 minus +0 is -0.
    difference = large & small & SIGN;
  }
  if ((large & MAGNITUDE) >= INFINITE) {
    // NaN of a NaN, and of two infinities of which none is left.
    let none = (large & MAGNITUDE) > INFINITE || (large ^ small) == SIGN;
    difference = select(large, 0x7fc00000u, none);
  }
  return difference;
}
