// The falling exponential. The built-in one may be off by 3 + 2x units in the last place; this one is off by a few.
// provides: decay
// requires: nothing
// exp(-x) for x from 0 to 87.34, by Cody and Waite's reduction to a power of two and a polynomial on [-ln 2 / 2, ln 2 / 2].
fn decay(x: f32) -> f32 {
  let power = floor(x * 1.4426950 + 0.5);
  let r = (power * 0.693359375 - x) - power * 0.00021219444;
  let tail = 0.5 + r * (0.16666667 + r * (0.041666668 + r * (0.0083333333 + r * (0.0013888889 + r * 0.00019841270))));
  let scale = bitcast<f32>((127u - min(u32(power), 126u)) << 23u);
  return (1.0 + (r + r * r * tail)) * scale;
}
