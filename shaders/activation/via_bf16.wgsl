// bf16 elements in f32 arithmetic, rounded to the nearest, ties to even.
// provides: widen, narrow
// requires: Raw
fn widen(raw: Raw) -> f32 {
  return bitcast<f32>(raw << 16u);
}

fn narrow(value: f32) -> Raw {
  let bits = bitcast<u32>(value);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, (bits >> 16u) | 0x40u, (bits & 0x7fffffffu) > 0x7f800000u);
}
