// The order of i64.
// provides: is_nan, key
// requires: Raw, Key
fn is_nan(raw: Raw) -> bool {
  return false;
}

fn key(raw: Raw) -> Key {
  return raw ^ vec2<u32>(0u, 0x80000000u);
}
