// The order of f16. NaN is told by its bits, since a float comparison with NaN is not dependable in shaders.
// provides: is_nan, key
// requires: Raw, Key
fn is_nan(raw: Raw) -> bool {
  return (raw & 0x7fffu) > 0x7c00u;
}

// -0 has the key of +0, and every NaN has the largest key, which no number has.
fn key(raw: Raw) -> Key {
  let ordered = raw ^ select(0x8000u, 0xffffu, (raw >> 15u) == 1u);
  return select(select(ordered, 0x8000u, (raw & 0x7fffu) == 0u), 0xffffffffu, is_nan(raw));
}
