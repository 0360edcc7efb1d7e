// Visits every tap of an output's windows on three axes, the last axis fastest.
// provides: scan
// requires: pool, Candidate, visit, output_windows
fn scan(output: u32) -> Candidate {
  let at = output_windows(output);
  let window_0 = at.window_0;
  let window_1 = at.window_1;
  let window_2 = at.window_2;
  var candidate = Candidate();
  for (var tap_0 = 0u; tap_0 < window_0.count; tap_0++) {
    let row_0 = at.outer * pool.axes[0].input + window_0.first + tap_0 * window_0.step;
    for (var tap_1 = 0u; tap_1 < window_1.count; tap_1++) {
      let row_1 = row_0 * pool.axes[1].input + window_1.first + tap_1 * window_1.step;
      for (var tap_2 = 0u; tap_2 < window_2.count; tap_2++) {
        let row_2 = row_1 * pool.axes[2].input + window_2.first + tap_2 * window_2.step;
        visit(&candidate, row_2 * pool.inner + at.inner);
      }
    }
  }
  return candidate;
}
