// The function that is applied to Y.
// provides: activate
// requires: Raw

//// none: No activation.
fn activate(raw: Raw) -> Raw {
  return raw;
}

//// clip when clip: Relu and Clip, exact for every element type: thresholds are elements, and elements are compared by
// their keys. NaN is left alone, and so is -0 at a threshold of 0.
// requires: is_nan, key, greater, from_pair, activation_parameters
fn activate(raw: Raw) -> Raw {
  let parameters = activation_parameters();
  var kept = raw;
  if (!is_nan(raw)) {
    if (greater(key(from_pair(parameters.low_threshold)), key(raw))) {
      kept = from_pair(parameters.low_value);
    } else if (greater(key(raw), key(from_pair(parameters.high_threshold)))) {
      kept = from_pair(parameters.high_value);
    }
  }
  return kept;
}

//// leaky_relu when leaky_relu: LeakyRelu: `x >= 0 ? x : alpha * x`. NaN and -0 are left alone.
// requires: is_nan, widen, narrow, activation_parameters
fn activate(raw: Raw) -> Raw {
  let bits = bitcast<u32>(widen(raw));
  var result = raw;
  if (!is_nan(raw) && bits > 0x80000000u) {
    result = narrow(bitcast<f32>(activation_parameters().alpha) * bitcast<f32>(bits));
  }
  return result;
}

//// hard_sigmoid when hard_sigmoid: HardSigmoid: `alpha * x + beta`, kept between 0 and 1. The bounds are tested on the
// bits.
// requires: is_nan, widen, narrow, activation_parameters
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

//// tanh when tanh: Tanh, from a polynomial near zero and an exponential elsewhere: the built-in one may be off by
// 1e-5, or overflow.
// requires: is_nan, widen, narrow, decay
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

//// sigmoid when sigmoid: Sigmoid: `1 / (1 + exp(-x))`, from an exponential that cannot overflow.
// requires: is_nan, widen, narrow, decay
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
