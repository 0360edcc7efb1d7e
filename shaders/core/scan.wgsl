// Visits the elements of a window.
// provides: scan
// requires: pool, Candidate

//// plane when BY_QUADS: A window that is a whole plane of X: one contiguous run, read by one invocation.
// requires: run, may_win
fn scan(output: u32) -> Candidate {
  let elements = pool.axes[2].input;
  let first = output * elements;
  let best = run(first, first + elements, 0u, 1u);
  return Candidate(best, may_win(best.key), first, true);
}

//// scan: Visits every tap of an output's windows on three axes, the last axis fastest.
// requires: visit, output_windows
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

//// ordered when known(LAYERS): Reads the elements of a window in the order of their positions, so that the reduction
// need not compare positions.
// requires: identity, accumulate_row, may_win, output_windows, LAYERS
fn scan(output: u32) -> Candidate {
  let at = output_windows(output);
  let window_0 = at.window_0;
  let window_1 = at.window_1;
  let window_2 = at.window_2;
  let row_0 = at.outer * pool.axes[0].input + window_0.first;
  let row_1 = row_0 * pool.axes[1].input + window_1.first;
  let first = (row_1 * pool.axes[2].input + window_2.first) * pool.inner + at.inner;
  let step_2 = window_2.step * pool.inner;
  let step_1 = window_1.step * pool.axes[2].input * pool.inner;
  let step_0 = window_0.step * pool.axes[1].input * pool.axes[2].input * pool.inner;
  var best = identity(first);
  // An empty row is not read.
  let rows = select(0u, window_1.count, (window_0.count != 0u) & (window_2.count != 0u));
  if (LAYERS > 1u) {
    for (var tap_0 = 0u; tap_0 < window_0.count; tap_0++) {
      for (var tap_1 = 0u; tap_1 < rows; tap_1++) {
        best = accumulate_row(best, first + tap_0 * step_0 + tap_1 * step_1, window_2.count, step_2);
      }
    }
  } else {
    for (var tap_1 = 0u; tap_1 < rows; tap_1++) {
      best = accumulate_row(best, first + tap_1 * step_1, window_2.count, step_2);
    }
  }
  let seen = (window_0.count != 0u) & (window_1.count != 0u) & (window_2.count != 0u);
  return Candidate(best, seen & may_win(best.key), first, seen);
}
