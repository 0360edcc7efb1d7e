// A pass over the elements of X, where the NaN rule is a constant: taps are visited in the order of their positions, so that of
// equals the first one stays, and no position has to be compared.
// provides: scan
// requires: pool, Candidate, element, rank, takes, start, known, looked_at
fn scan(output: u32) -> Candidate {
  let at = looked_at(output);
  let window_0 = at.window_0;
  let window_1 = at.window_1;
  let window_2 = at.window_2;
  let row_0 = at.outer * pool.axes[0].input + window_0.first;
  let row_1 = row_0 * pool.axes[1].input + window_1.first;
  let first = (row_1 * pool.axes[2].input + window_2.first) * pool.inner + at.inner;
  let step_2 = window_2.step * pool.inner;
  let step_1 = window_1.step * pool.axes[2].input * pool.inner;
  let step_0 = window_0.step * pool.axes[1].input * pool.axes[2].input * pool.inner;
  var best_key = start();
  var best = first;
  for (var tap_0 = 0u; tap_0 < window_0.count; tap_0++) {
    for (var tap_1 = 0u; tap_1 < window_1.count; tap_1++) {
      var position = first + tap_0 * step_0 + tap_1 * step_1;
      for (var tap_2 = 0u; tap_2 < window_2.count; tap_2++) {
        let raw = element(position);
        let new_key = rank(raw);
        let wins = takes(new_key, raw, best_key);
        best_key = select(best_key, new_key, wins);
        best = select(best, position, wins);
        position += step_2;
      }
    }
  }
  let seen = (window_0.count != 0u) & (window_1.count != 0u) & (window_2.count != 0u);
  return Candidate(best_key, best, known(best_key, seen), first, seen);
}
