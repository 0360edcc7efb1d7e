// The order of an element type's values, as keys. `key`: -0 has the key of +0, and every NaN has the largest key, which
// no number has. `key_nan_lowest`: as `key`, with every NaN below -infinity. SMALLEST_RAW is the element of the
// identity: its key is the smallest, which no float that is a number has. SMALLEST_NUMBER is the smallest
// `key_nan_lowest` of a number.
// requires: Raw

//// floats when FLOAT && BYTES <= 4: Floats of up to 32 bits. NaN is detected by its bits, since shaders do not
// guarantee float comparisons with NaN.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, NAN_LOWEST, is_nan, key, key_nan_lowest, signed_magnitude
// requires: Key, ZERO, MAGNITUDE, INFINITE, SHIFT, LARGEST
const FLOATS: bool = true;
const SMALLEST_RAW: Raw = ZERO;
const SMALLEST_NUMBER: Key = NAN_LOWEST - (INFINITE << SHIFT);
// Added to a signed magnitude: +infinity becomes the largest key, and the sum wraps for NaN, which lies beyond.
const NAN_LOWEST: Key = LARGEST - (INFINITE << SHIFT);

fn is_nan(raw: Raw) -> bool {
  return (raw & MAGNITUDE) > INFINITE;
}

// Sign and magnitude as a number in two's complement: -0 and +0 are one number.
fn signed_magnitude(raw: Raw) -> u32 {
  let sign = u32(i32(raw << SHIFT) >> 31u);
  return (((raw << SHIFT) & 0x7fffffffu) ^ sign) - sign;
}

fn key(raw: Raw) -> Key {
  return select(signed_magnitude(raw) + 0x80000000u, 0xffffffffu, is_nan(raw));
}

fn key_nan_lowest(raw: Raw) -> Key {
  return signed_magnitude(raw) + NAN_LOWEST;
}

//// f64 when f64: Floats of 64 bits. NaN is detected by its bits.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, is_nan, key, key_nan_lowest
// requires: Key, ZERO
const FLOATS: bool = true;
const SMALLEST_RAW: Raw = ZERO;
const SMALLEST_NUMBER: Key = vec2<u32>(0xffffffffu, 0x001fffffu);

fn is_nan(raw: Raw) -> bool {
  let magnitude = raw.y & 0x7fffffffu;
  return (magnitude > 0x7ff00000u) | ((magnitude == 0x7ff00000u) & (raw.x != 0u));
}

fn key(raw: Raw) -> Key {
  let negative = (raw.y >> 31u) == 1u;
  let ordered = raw ^ vec2<u32>(select(0u, 0xffffffffu, negative), select(0x80000000u, 0xffffffffu, negative));
  let zero = ((raw.y << 1u) | raw.x) == 0u;
  return select(select(ordered, vec2<u32>(0u, 0x80000000u), zero), vec2<u32>(0xffffffffu, 0xffffffffu), is_nan(raw));
}

// Sign and magnitude as a number in two's complement, minus one, plus what makes +infinity the largest key: the sum
// wraps for NaN, which lies beyond.
fn key_nan_lowest(raw: Raw) -> Key {
  let sign = u32(i32(raw.y) >> 31u);
  let complemented = raw.x ^ sign;
  let low = complemented + ~sign;
  let borrow = select(0u, 1u, low > complemented);
  return vec2<u32>(low, ((raw.y & 0x7fffffffu) ^ sign) + 0x80100000u - borrow);
}

//// integers when !FLOAT: Integers: their bits, with the sign bit inverted if they have one.
// provides: FLOATS, SMALLEST_NUMBER, is_nan, key, key_nan_lowest
// requires: Key, SMALLEST_RAW, SMALLEST_KEY
const FLOATS: bool = false;
const SMALLEST_NUMBER: Key = SMALLEST_KEY;

fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ SMALLEST_RAW;
}

fn key_nan_lowest(raw: Raw) -> Key {
  return key(raw);
}

//// signed when SIGNED: The smallest integer in two's complement, whose key is the smallest.
// provides: SMALLEST_RAW
// requires: SIGN
const SMALLEST_RAW: Raw = SIGN;

//// unsigned when !FLOAT && !SIGNED: The smallest integer without a sign. Such integers are their own keys.
// provides: SMALLEST_RAW
// requires: ZERO
const SMALLEST_RAW: Raw = ZERO;
