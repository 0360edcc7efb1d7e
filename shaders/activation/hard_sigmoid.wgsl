// HardSigmoid: `alpha * x + beta`, kept between 0 and 1. The bounds are tested on the bits.
// provides: activate
// requires: Raw, is_nan, widen, narrow, activation_parameters
fn activate(raw: Raw) -> Raw {
  var result = raw;
  if (!is_nan(raw)) {
    let parameters = activation_parameters();
    var z = bitcast<f32>(parameters.alpha) * widen(raw) + bitcast<f32>(parameters.beta);
    let bits = bitcast<u32>(z);
    // -0 is not below 0, and a NaN (0 times infinity) is neither below 0 nor above 1.
    if (bits > 0x80000000u && bits <= 0xff800000u) {
      z = 0.0;
    } else if (bits > 0x3f800000u && bits <= 0x7f800000u) {
      z = 1.0;
    }
    result = narrow(z);
  }
  return result;
}
