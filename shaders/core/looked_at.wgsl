// What an output looks at: its windows on the three axes of a pass, and where these lie.
// provides: LookedAt, looked_at
// requires: pool, Window, window_of, within, pass_axis
struct LookedAt {
  window_0: Window,
  window_1: Window,
  window_2: Window,
  outer: u32,
  inner: u32,
}

fn looked_at(output: u32) -> LookedAt {
  let axis_0 = pass_axis(0u);
  let axis_1 = pass_axis(1u);
  let axis_2 = pass_axis(2u);
  let inner = output % pool.inner;
  var rest = output / pool.inner;
  let window_2 = within(window_of(axis_2, rest % axis_2.output), 2u);
  rest = rest / axis_2.output;
  let window_1 = within(window_of(axis_1, rest % axis_1.output), 1u);
  rest = rest / axis_1.output;
  let window_0 = within(window_of(axis_0, rest % axis_0.output), 0u);
  return LookedAt(window_0, window_1, window_2, rest / axis_0.output, inner);
}
