// Tanh, from a polynomial near zero and an exponential elsewhere: the built-in one may be off by 1e-5, or overflow.
// provides: activate
// requires: Raw, is_nan, widen, narrow, decay
fn activate(raw: Raw) -> Raw {
  let bits = bitcast<u32>(widen(raw));
  let magnitude_bits = bits & 0x7fffffffu;
  var result = raw;
  // Below 2^-12 the cube is less than half a unit in the last place: tanh(x) rounds to x.
  if (!is_nan(raw) && magnitude_bits >= 0x39800000u) {
    let magnitude = bitcast<f32>(magnitude_bits);
    // From 10 on, 1 is the nearest f32.
    var value = 1.0;
    if (magnitude_bits < 0x3e800000u) {
      // The odd Taylor series up to x^9; below 1/4 its remainder is under 1e-8 of the value.
      let square = magnitude * magnitude;
      let series = -0.33333333 + square * (0.13333333 + square * (-0.053968254 + square * 0.021869488));
      value = magnitude + magnitude * square * series;
    } else if (magnitude_bits < 0x41200000u) {
      let e = decay(2.0 * magnitude);
      value = (1.0 - e) / (1.0 + e);
    }
    result = narrow(bitcast<f32>(bitcast<u32>(value) | (bits & 0x80000000u)));
  }
  return result;
}
