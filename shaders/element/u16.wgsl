// The order of u16.
// provides: is_nan, key
// requires: Raw, Key
fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw;
}
