// The order of f32. NaN is detected by its bits, since shaders do not guarantee float comparisons with NaN.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, is_nan, signed_magnitude, key, key_nan_lowest
// requires: Raw, Key, ZERO
const FLOATS: bool = true;
// The element of the identity; its key is the smallest, which no number has.
const SMALLEST_RAW: Raw = ZERO;
// The smallest `key_nan_lowest` of a number: that of -infinity.
const SMALLEST_NUMBER: Key = 0x00ffffffu;

fn is_nan(raw: Raw) -> bool {
  return (raw & 0x7fffffffu) > 0x7f800000u;
}

// Sign and magnitude as a number in two's complement: -0 and +0 are one number.
fn signed_magnitude(raw: Raw) -> u32 {
  let sign = u32(i32(raw) >> 31u);
  return ((raw & 0x7fffffffu) ^ sign) - sign;
}

// -0 has the key of +0, and every NaN has the largest key, which no number has.
fn key(raw: Raw) -> Key {
  return select(signed_magnitude(raw) + 0x80000000u, 0xffffffffu, is_nan(raw));
}

// `key` with every NaN below -infinity: the sum wraps, so that a NaN, beyond +infinity, becomes the lowest.
fn key_nan_lowest(raw: Raw) -> Key {
  return signed_magnitude(raw) + 0x807fffffu;
}
