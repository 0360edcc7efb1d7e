// The order of i16.
// provides: FLOATS, SMALLEST_RAW, SMALLEST_NUMBER, is_nan, key, key_nan_lowest
// requires: Raw, Key, SMALLEST_KEY
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
