// The order of an element type's values, as keys. NaN is detected by its bits, since shaders do not guarantee float
//
// comparisons with NaN.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, is_nan, key, key_nan_lowest
// requires: Raw, Key

//// f32
// provides: signed_magnitude
// requires: ZERO
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

//// f16
// requires: ZERO
const FLOATS: bool = true;
// The element of the identity; its key is the smallest, which no number has.
const SMALLEST_RAW: Raw = ZERO;
// The smallest `key_nan_lowest` of a number: that of -infinity.
const SMALLEST_NUMBER: Key = 0x07ff0000u;

fn is_nan(raw: Raw) -> bool {
  return (raw & 0x7fffu) > 0x7c00u;
}

// Sign and magnitude as a number in two's complement: -0 and +0 are one number.
fn signed_magnitude(raw: Raw) -> u32 {
  let sign = u32(i32(raw << 16u) >> 31u);
  return (((raw << 16u) & 0x7fffffffu) ^ sign) - sign;
}

// -0 has the key of +0, and every NaN has the largest key, which no number has.
fn key(raw: Raw) -> Key {
  return select(signed_magnitude(raw) + 0x80000000u, 0xffffffffu, is_nan(raw));
}

// `key` with every NaN below -infinity: the sum wraps, so that a NaN, beyond +infinity, becomes the lowest.
fn key_nan_lowest(raw: Raw) -> Key {
  return signed_magnitude(raw) + 0x83ff0000u;
}

//// bf16
// requires: ZERO
const FLOATS: bool = true;
// The element of the identity; its key is the smallest, which no number has.
const SMALLEST_RAW: Raw = ZERO;
// The smallest `key_nan_lowest` of a number: that of -infinity.
const SMALLEST_NUMBER: Key = 0x00ff0000u;

fn is_nan(raw: Raw) -> bool {
  return (raw & 0x7fffu) > 0x7f80u;
}

// Sign and magnitude as a number in two's complement: -0 and +0 are one number.
fn signed_magnitude(raw: Raw) -> u32 {
  let sign = u32(i32(raw << 16u) >> 31u);
  return (((raw << 16u) & 0x7fffffffu) ^ sign) - sign;
}

// -0 has the key of +0, and every NaN has the largest key, which no number has.
fn key(raw: Raw) -> Key {
  return select(signed_magnitude(raw) + 0x80000000u, 0xffffffffu, is_nan(raw));
}

// `key` with every NaN below -infinity: the sum wraps, so that a NaN, beyond +infinity, becomes the lowest.
fn key_nan_lowest(raw: Raw) -> Key {
  return signed_magnitude(raw) + 0x807f0000u;
}

//// f64
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

//// i8
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = 0x80u;
// The smallest `key_nan_lowest` that is not of a NaN.
const SMALLEST_NUMBER: Key = SMALLEST_KEY;

fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ 0x80u;
}

fn key_nan_lowest(raw: Raw) -> Key {
  return key(raw);
}

//// u8
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = 0u;
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

//// i16
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = 0x8000u;
// The smallest `key_nan_lowest` that is not of a NaN.
const SMALLEST_NUMBER: Key = SMALLEST_KEY;

fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ 0x8000u;
}

fn key_nan_lowest(raw: Raw) -> Key {
  return key(raw);
}

//// u16
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = 0u;
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

//// i32
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = 0x80000000u;
// The smallest `key_nan_lowest` that is not of a NaN.
const SMALLEST_NUMBER: Key = SMALLEST_KEY;

fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ 0x80000000u;
}

fn key_nan_lowest(raw: Raw) -> Key {
  return key(raw);
}

//// u32
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = 0u;
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

//// i64
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = vec2<u32>(0u, 0x80000000u);
// The smallest `key_nan_lowest` that is not of a NaN.
const SMALLEST_NUMBER: Key = SMALLEST_KEY;

fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ vec2<u32>(0u, 0x80000000u);
}

fn key_nan_lowest(raw: Raw) -> Key {
  return key(raw);
}

//// u64
// requires: SMALLEST_KEY
const FLOATS: bool = false;
// The element of the smallest key.
const SMALLEST_RAW: Raw = vec2<u32>(0u, 0u);
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
