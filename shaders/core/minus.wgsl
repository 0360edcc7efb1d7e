// The difference of two elements, in integers alone: the same bits on every driver. Integers saturate.
// provides: minus

//// minus_unsigned: Unsigned integers of up to 32 bits.
// requires: nothing
fn minus(a: u32, b: u32) -> u32 {
  return a - min(a, b);
}

//// minus_signed when SIGNED && BYTES < 8: Signed integers of up to 32 bits, at the top of a word, where they overflow
// as 32 bits do.
// requires: OUTPUTS
fn minus(a: u32, b: u32) -> u32 {
  let unused = 32u - 32u / OUTPUTS;
  let minuend = a << unused;
  let subtrahend = b << unused;
  let wrapped = minuend - subtrahend;
  let overflows = (((minuend ^ subtrahend) & (minuend ^ wrapped)) >> 31u) == 1u;
  return select(wrapped, 0x7fffffffu + (minuend >> 31u), overflows) >> unused;
}

//// minus_unsigned64 when u64: Unsigned integers of 64 bits.
// requires: nothing
fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let borrow = u32(a.x < b.x);
  let below = a.y < b.y || (a.y == b.y && borrow == 1u);
  return select(vec2<u32>(a.x - b.x, a.y - b.y - borrow), vec2<u32>(0u, 0u), below);
}

//// minus_signed64 when i64: Signed integers of 64 bits.
// requires: nothing
fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let high = a.y - b.y - u32(a.x < b.x);
  let overflows = (((a.y ^ b.y) & (a.y ^ high)) >> 31u) == 1u;
  let negative = a.y >> 31u;
  return select(vec2<u32>(a.x - b.x, high), vec2<u32>(negative - 1u, 0x7fffffffu + negative), overflows);
}

//// minus_floats when FLOAT && BYTES < 8: Floats of up to 32 bits, by the rules of IEEE 754. WGSL does not promise them
// for overflow, NaN, subnormals and signs of zeros.
// requires: SIGN, MAGNITUDE, INFINITE
// f16 and bf16 are defined by their difference in f32, rounded once more. It is rounded once here, which gives the same
// bits: f32 has 24 digits, two more than twice as many as f16 and bf16 at most have.
const FRACTION_BITS: u32 = countTrailingZeros(INFINITE);

// A number is a significand of FRACTION_BITS + 1 bits times a power of two, whose biased exponent counts as 1 for
// subnormals.
fn exponent(number: u32) -> u32 {
  return max((number & INFINITE) >> FRACTION_BITS, 1u);
}

// Three more bits, for rounding.
fn significand(number: u32) -> u32 {
  let hidden = u32((number & INFINITE) != 0u) << FRACTION_BITS;
  return ((number & (MAGNITUDE - INFINITE)) | hidden) << 3u;
}

fn minus(a: u32, b: u32) -> u32 {
  // The sum of a and -b, the larger magnitude first.
  let other = b ^ SIGN;
  let swapped = (other & MAGNITUDE) > (a & MAGNITUDE);
  let large = select(a, other, swapped);
  let small = select(other, a, swapped);
  // What is shifted out of the smaller one stays as its lowest bit.
  let shift = min(exponent(large) - exponent(small), FRACTION_BITS + 4u);
  let aligned = significand(small);
  let addend = (aligned >> shift) | u32((aligned & ((1u << shift) - 1u)) != 0u);
  let opposite = ((large ^ small) & SIGN) != 0u;
  let sum = select(significand(large) + addend, significand(large) - addend, opposite);
  // The leading bit belongs at bit FRACTION_BITS + 3; the sum may have one bit more. It is shifted to the left no
  // further than the exponent allows.
  let carried = sum >> (FRACTION_BITS + 4u);
  let up = min(countLeadingZeros(sum) + carried - (28u - FRACTION_BITS), exponent(large) - 1u);
  let number = ((sum >> carried) | (sum & carried)) << up;
  // The leading bit adds 1 to the exponent. Rounding is to nearest, ties to even, and may carry into the exponent.
  let packed = ((exponent(large) + carried - up - 1u) << FRACTION_BITS) + (number >> 3u);
  let rest = number & 7u;
  let rounded = packed + u32(rest > 4u || (rest == 4u && (packed & 1u) == 1u));
  var difference = (large & SIGN) | min(rounded, INFINITE);
  if (sum == 0u) {
    // Only -0 minus +0 is -0.
    difference = large & small & SIGN;
  }
  if ((large & INFINITE) == INFINITE) {
    // NaN for a NaN operand or for equal infinities.
    let none = (large & MAGNITUDE) > INFINITE || (large ^ small) == SIGN;
    difference = select(large, INFINITE | (1u << (FRACTION_BITS - 1u)), none);
  }
  return difference;
}

//// minus_f64 when f64: Floats of 64 bits, step by step as those of 32.
// requires: SIGN, ALL, add, greater
const MAGNITUDE: vec2<u32> = ALL ^ SIGN;
const INFINITE: vec2<u32> = vec2<u32>(0u, 0x7ff00000u);

fn exponent(number: vec2<u32>) -> u32 {
  return max((number.y & INFINITE.y) >> 20u, 1u);
}

fn significand(number: vec2<u32>) -> vec2<u32> {
  let hidden = u32((number.y & INFINITE.y) != 0u) << 20u;
  return up_by(vec2<u32>(number.x, (number.y & 0xfffffu) | hidden), 3u);
}

// A shift by 32 is one by 0, so what moves from word to word is shifted twice.
fn up_by(number: vec2<u32>, bits: u32) -> vec2<u32> {
  let words = select(number, vec2<u32>(0u, number.x), bits >= 32u);
  let rest = bits & 31u;
  return vec2<u32>(words.x << rest, (words.y << rest) | ((words.x >> 1u) >> (31u - rest)));
}

fn down_by(number: vec2<u32>, bits: u32) -> vec2<u32> {
  let words = select(number, vec2<u32>(number.y, 0u), bits >= 32u);
  let rest = bits & 31u;
  return vec2<u32>((words.x >> rest) | ((words.y << 1u) << (31u - rest)), words.y >> rest);
}

fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let other = b ^ SIGN;
  let swapped = greater(other & MAGNITUDE, a & MAGNITUDE);
  let large = select(a, other, swapped);
  let small = select(other, a, swapped);
  let shift = min(exponent(large) - exponent(small), 56u);
  let aligned = significand(small);
  let kept = down_by(aligned, shift);
  let addend = kept | vec2<u32>(u32(any(up_by(kept, shift) != aligned)), 0u);
  let opposite = ((large.y ^ small.y) >> 31u) == 1u;
  let sum = add(significand(large), select(addend, add(~addend, vec2<u32>(1u, 0u)), opposite));
  // The leading bit belongs at bit 55, which is bit 23 of the high word.
  let carried = sum.y >> 24u;
  let zeros = select(countLeadingZeros(sum.y), 32u + countLeadingZeros(sum.x), sum.y == 0u);
  let up = min(zeros + carried - 8u, exponent(large) - 1u);
  let number = up_by(down_by(sum, carried) | vec2<u32>(sum.x & carried, 0u), up);
  let packed = add(vec2<u32>(0u, (exponent(large) + carried - up - 1u) << 20u), down_by(number, 3u));
  let rest = number.x & 7u;
  let rounded = add(packed, vec2<u32>(u32(rest > 4u || (rest == 4u && (packed.x & 1u) == 1u)), 0u));
  var difference = (large & SIGN) | select(rounded, INFINITE, rounded.y >= INFINITE.y);
  if ((sum.x | sum.y) == 0u) {
    difference = large & small & SIGN;
  }
  if ((large.y & INFINITE.y) == INFINITE.y) {
    let none = greater(large & MAGNITUDE, INFINITE) || all((large ^ small) == SIGN);
    difference = select(large, vec2<u32>(0u, 0x7ff80000u), none);
  }
  return difference;
}
