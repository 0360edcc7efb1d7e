// The order of an element type's values, as keys.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, is_nan, key, key_nan_lowest
// requires: Raw, Key

//// floats: Floats of up to 32 bits. NaN is detected by its bits, since shaders do not guarantee float comparisons with
// NaN.
// provides: signed_magnitude
// requires: ZERO, MAGNITUDE, INFINITE, SHIFT, LARGEST
const FLOATS: bool = true;
// The element of the identity; its key is the smallest, which no number has.
const SMALLEST_RAW: Raw = ZERO;
// The smallest `key_nan_lowest` of a number: that of -infinity.
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

// -0 has the key of +0, and every NaN has the largest key, which no number has.
fn key(raw: Raw) -> Key {
  return select(signed_magnitude(raw) + 0x80000000u, 0xffffffffu, is_nan(raw));
}

// `key` with every NaN below -infinity.
fn key_nan_lowest(raw: Raw) -> Key {
  return signed_magnitude(raw) + NAN_LOWEST;
}

//// f64: Floats of 64 bits. NaN is detected by its bits.
// requires: ZERO, SMALLEST_KEY
const FLOATS: bool = true;
// The element of the identity; its key is the smallest, which no number has.
const SMALLEST_RAW: Raw = ZERO;
// The smallest `key_nan_lowest` of a number: that of -infinity.
const SMALLEST_NUMBER: Key = vec2<u32>(0xffffffffu, 0x000fffffu);

fn is_nan(raw: Raw) -> bool {
  let magnitude = raw.y & 0x7fffffffu;
  return (magnitude > 0x7ff00000u) | ((magnitude == 0x7ff00000u) & (raw.x != 0u));
}

// -0 has the key of +0, and every NaN has the largest key, which no number has.
fn key(raw: Raw) -> Key {
  let negative = (raw.y >> 31u) == 1u;
  let ordered = raw ^ vec2<u32>(select(0u, 0xffffffffu, negative), select(0x80000000u, 0xffffffffu, negative));
  let zero = ((raw.y << 1u) | raw.x) == 0u;
  return select(select(ordered, vec2<u32>(0u, 0x80000000u), zero), vec2<u32>(0xffffffffu, 0xffffffffu), is_nan(raw));
}

// `key` with every NaN below -infinity.
fn key_nan_lowest(raw: Raw) -> Key {
  return select(key(raw), SMALLEST_KEY, is_nan(raw));
}

//// signed: Integers in two's complement: the sign bit is inverted.
// requires: SIGN, SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = SIGN;
// The smallest `key_nan_lowest` that is not of a NaN.
const SMALLEST_NUMBER: Key = SMALLEST_KEY;

fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ SIGN;
}

fn key_nan_lowest(raw: Raw) -> Key {
  return key(raw);
}

//// unsigned: Integers that are their own keys.
// requires: ZERO, SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = ZERO;
// The smallest `key_nan_lowest` that is not of a NaN.
const SMALLEST_NUMBER: Key = SMALLEST_KEY;

fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw;
}

fn key_nan_lowest(raw: Raw) -> Key {
  return key(raw);
}
