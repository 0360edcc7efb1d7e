// A window that is a whole plane of X: one contiguous run, read by one invocation.
// provides: scan
// requires: pool, Candidate, run, may_win
fn scan(output: u32) -> Candidate {
  let elements = pool.axes[2].input;
  let first = output * elements;
  let best = run(first, first + elements, 0u, 1u);
  return Candidate(best, may_win(best.key), first, true);
}
