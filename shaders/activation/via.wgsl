// Elements in f32 arithmetic, rounded to the nearest, ties to even.
// provides: widen, narrow
// requires: Raw

//// via_f32: f32, which needs no conversion.
fn widen(raw: Raw) -> f32 {
  return bitcast<f32>(raw);
}

fn narrow(value: f32) -> Raw {
  return bitcast<u32>(value);
}

//// via_f16 when f16: f16 elements in f32 arithmetic, rounded to the nearest, ties to even. Neither direction uses the
// built-in conversions, which may round otherwise or flush subnormals.
fn widen(raw: Raw) -> f32 {
  let sign = (raw & 0x8000u) << 16u;
  let exponent = (raw >> 10u) & 0x1fu;
  let mantissa = raw & 0x3ffu;
  let wide = select(exponent + 112u, 255u, exponent == 31u);
  // Subnormals are multiples of 2^-24, and every one is a normal f32.
  let subnormal = bitcast<u32>(f32(mantissa) * 5.9604644775390625e-8);
  return bitcast<f32>(sign | select((wide << 23u) | (mantissa << 13u), subnormal, exponent == 0u));
}

// `value / 2^shift`, rounded to the nearest, ties to even.
fn round_shift(value: u32, shift: u32) -> u32 {
  let quotient = value >> shift;
  let rest = value & ((1u << shift) - 1u);
  let half = 1u << (shift - 1u);
  let up = rest > half || (rest == half && (quotient & 1u) == 1u);
  return quotient + select(0u, 1u, up);
}

fn narrow(value: f32) -> Raw {
  let bits = bitcast<u32>(value);
  let sign = (bits >> 16u) & 0x8000u;
  let magnitude = bits & 0x7fffffffu;
  let exponent = magnitude >> 23u;
  // Below 2^-25 the nearest f16 is zero.
  var rounded = 0u;
  if (magnitude > 0x7f800000u) {
    rounded = 0x7e00u;
  } else if (magnitude >= 0x477ff000u) {
    // From 65520 on, the nearest f16 is infinity.
    rounded = 0x7c00u;
  } else if (magnitude >= 0x38800000u) {
    // From 2^-14 on, the exponent is rebased. A carry out of the mantissa correctly increments the exponent.
    rounded = round_shift(magnitude - 0x38000000u, 13u);
  } else if (exponent >= 102u) {
    rounded = round_shift((magnitude & 0x7fffffu) | 0x800000u, 126u - exponent);
  }
  return sign | rounded;
}

//// via_bf16 when bf16: bf16.
fn widen(raw: Raw) -> f32 {
  return bitcast<f32>(raw << 16u);
}

fn narrow(value: f32) -> Raw {
  let bits = bitcast<u32>(value);
  let rounded = (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
  return select(rounded, (bits >> 16u) | 0x40u, (bits & 0x7fffffffu) > 0x7f800000u);
}
