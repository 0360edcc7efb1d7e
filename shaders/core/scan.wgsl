// A pass: every tap of an output's windows on three axes is visited, the last axis fastest.
// provides: scan
// requires: pool, Candidate, visit, window_of, within, pass_axis
fn scan(output: u32) -> Candidate {
  let axis_0 = pass_axis(0u);
  let axis_1 = pass_axis(1u);
  let axis_2 = pass_axis(2u);
  var rest = output / pool.inner;
  let inner = output % pool.inner;
  let window_2 = within(window_of(axis_2, rest % axis_2.output), 2u);
  rest = rest / axis_2.output;
  let window_1 = within(window_of(axis_1, rest % axis_1.output), 1u);
  rest = rest / axis_1.output;
  let window_0 = within(window_of(axis_0, rest % axis_0.output), 0u);
  let outer = rest / axis_0.output;
  var candidate = Candidate();
  for (var tap_0 = 0u; tap_0 < window_0.count; tap_0++) {
    let row_0 = outer * axis_0.input + window_0.first + tap_0 * window_0.step;
    for (var tap_1 = 0u; tap_1 < window_1.count; tap_1++) {
      let row_1 = row_0 * axis_1.input + window_1.first + tap_1 * window_1.step;
      for (var tap_2 = 0u; tap_2 < window_2.count; tap_2++) {
        let row_2 = row_1 * axis_2.input + window_2.first + tap_2 * window_2.step;
        visit(&candidate, row_2 * pool.inner + inner);
      }
    }
  }
  return candidate;
}
