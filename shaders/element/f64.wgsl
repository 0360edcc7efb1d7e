// The order of f64. NaN is detected by its bits, since shaders do not guarantee float comparisons with NaN.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, is_nan, key, key_nan_lowest
// requires: Raw, Key, ZERO, SMALLEST_KEY
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
