// The order of f32. NaN is told by its bits, since a float comparison with NaN is not dependable in shaders.
// provides: is_nan, key
// requires: Raw, Key
fn is_nan(raw: Raw) -> bool {
  return (raw & 0x7fffffffu) > 0x7f800000u;
}

// -0 has the key of +0, and every NaN has the largest key, which no number has.
fn key(raw: Raw) -> Key {
  let ordered = raw ^ select(0x80000000u, 0xffffffffu, (raw >> 31u) == 1u);
  return select(select(ordered, 0x80000000u, (raw << 1u) == 0u), 0xffffffffu, is_nan(raw));
}
