// The order of f32. NaN is told by its bits, since a float comparison with NaN is not dependable in shaders.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, is_nan, signed_magnitude, key, key_nan_lowest
// requires: Raw, Key, ZERO
const FLOATS: bool = true;
// An element to stand with the smallest key, which no number has.
const SMALLEST_RAW: Raw = ZERO;
// The smallest `key_nan_lowest` that is not of a NaN: that of -infinity.
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

// As `key`, but every NaN is below -infinity: the sum wraps, so that NaN beyond +infinity comes out lowest.
fn key_nan_lowest(raw: Raw) -> Key {
  return signed_magnitude(raw) + 0x807fffffu;
}
