// The order of i8.
// provides: is_nan, key
// requires: Raw, Key
fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ 0x80u;
}
