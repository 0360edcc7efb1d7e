// The winner of a window.
// provides: winner
// requires: Candidate, first_wins, finalize

//// scanned: The winner of a window that this dispatch reads whole.
// requires: element, scan, nan_policy, SEED_FIRST
fn winner(output: u32) -> Candidate {
  var candidate = scan(output);
  if (nan_policy() == SEED_FIRST && candidate.seen) {
    let first = element(candidate.first);
    candidate.best = finalize(candidate.best, first, candidate.first);
    candidate.found = candidate.found | first_wins(first);
  }
  return candidate;
}

//// accumulated when ACCUMULATORS: The winner of a window that was reduced in parts. X is not bound; the accumulator
// holds the window's first element.
// requires: accumulated
fn winner(output: u32) -> Candidate {
  let known = accumulated(output);
  var candidate = known.candidate;
  if (candidate.seen) {
    candidate.best = finalize(candidate.best, known.first_raw, candidate.first);
    candidate.found = candidate.found | first_wins(known.first_raw);
  }
  return candidate;
}
