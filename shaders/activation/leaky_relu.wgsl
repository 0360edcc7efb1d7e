// LeakyRelu: `x >= 0 ? x : alpha * x`. NaN and -0 are left alone.
// provides: activate
// requires: Raw, is_nan, widen, narrow, activation_parameters
fn activate(raw: Raw) -> Raw {
  let bits = bitcast<u32>(widen(raw));
  var result = raw;
  if (!is_nan(raw) && bits > 0x80000000u) {
    result = narrow(bitcast<f32>(activation_parameters().alpha) * bitcast<f32>(bits));
  }
  return result;
}
