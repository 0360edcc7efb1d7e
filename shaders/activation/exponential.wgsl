// The falling exponential. The built-in one may be off by 3 + 2x units in the last place; this one is off by a few.
// provides: decay
// requires: nothing
// exp(-x) for x from 0 to 87.34: Cody and Waite's reduction to 2^-power * exp(r), with |r| below 0.37, then a
// polynomial.
//
// The reduction subtracts two numbers that nearly cancel. It is done on integers, in units of 2^-25, because compilers
// that may reassociate float sums (Metal's default) would otherwise round before they subtract. In the remaining
// arithmetic no sum cancels, so that the order of its operations does not matter.
fn decay(x: f32) -> f32 {
  let units = u32(x * 33554432.0);
  // The nearest integer to x / ln 2, or its neighbour: 1477 is 2^10 / ln 2.
  let power = ((units >> 11u) * 1477u + 0x800000u) >> 24u;
  // power * ln 2, whose units are 23258159 and 61348 / 2^16.
  let multiple = power * LN_2_UNITS + ((power * LN_2_REST + 0x8000u) >> 16u);
  // The difference is below 2^24 units, so the conversion is exact.
  let r = f32(bitcast<i32>(multiple - units)) * 2.9802322387695312e-8;
  let tail = 0.5 + r * (0.16666667 + r * (0.041666668 + r * (0.0083333333 + r * (0.0013888889 + r * 0.00019841270))));
  let scale = bitcast<f32>((127u - min(power, 126u)) << 23u);
  return (1.0 + (r + r * r * tail)) * scale;
}

const LN_2_UNITS: u32 = 23258159u;
const LN_2_REST: u32 = 61348u;
