// The windows of an output on the three axes of a pass, and its outer and inner coordinates.
// provides: OutputWindows, output_windows
// requires: pool, Window, window_of, within, pass_axis, Digits, digits_of, AXES, INNER
struct OutputWindows {
  window_0: Window,
  window_1: Window,
  window_2: Window,
  outer: u32,
  inner: u32,
}

// Only the last AXES axes have more than one output. INNER is zero where nothing lies inside the last axis.
fn output_windows(output: u32) -> OutputWindows {
  let axis_0 = pass_axis(0u);
  let axis_1 = pass_axis(1u);
  let axis_2 = pass_axis(2u);
  var inner = Digits(0u, output);
  if (INNER > 0u) {
    inner = digits_of(output, pool.split[0]);
  }
  var on_2 = Digits(0u, inner.rest);
  if (AXES > 0u) {
    on_2 = digits_of(inner.rest, pool.split[1]);
  }
  var on_1 = Digits(0u, on_2.rest);
  if (AXES > 1u) {
    on_1 = digits_of(on_2.rest, pool.split[2]);
  }
  var on_0 = Digits(0u, on_1.rest);
  if (AXES > 2u) {
    on_0 = digits_of(on_1.rest, pool.split[3]);
  }
  let window_0 = within(window_of(axis_0, on_0.digit), 0u);
  let window_1 = within(window_of(axis_1, on_1.digit), 1u);
  let window_2 = within(window_of(axis_2, on_2.digit), 2u);
  return OutputWindows(window_0, window_1, window_2, on_0.rest, inner.digit);
}
