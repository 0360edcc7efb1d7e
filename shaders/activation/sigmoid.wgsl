// Sigmoid: `1 / (1 + exp(-x))`, from an exponential that cannot overflow.
// provides: activate
// requires: Raw, is_nan, widen, narrow, decay
fn activate(raw: Raw) -> Raw {
  var result = raw;
  if (!is_nan(raw)) {
    let bits = bitcast<u32>(widen(raw));
    let magnitude_bits = bits & 0x7fffffffu;
    // From 87.34 on, exp(-x) is not a normal f32, and zero is used. The test also keeps infinity out of the arithmetic.
    var e = 0.0;
    if (magnitude_bits < 0x42aeae14u) {
      e = decay(bitcast<f32>(magnitude_bits));
    }
    result = narrow(select(1.0, e, (bits >> 31u) == 1u) / (1.0 + e));
  }
  return result;
}
