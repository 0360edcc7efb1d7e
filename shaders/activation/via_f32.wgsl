// f32 elements in f32 arithmetic.
// provides: widen, narrow
// requires: Raw
fn widen(raw: Raw) -> f32 {
  return bitcast<f32>(raw);
}

fn narrow(value: f32) -> Raw {
  return bitcast<u32>(value);
}
