// The winner of a window that this dispatch reads whole.
// provides: winner
// requires: Candidate, element, scan, first_wins, finalize, nan_policy, SEED_FIRST
fn winner(output: u32) -> Candidate {
  var candidate = scan(output);
  if (nan_policy() == SEED_FIRST && candidate.seen) {
    let first = element(candidate.first);
    candidate.best = finalize(candidate.best, first, candidate.first);
    candidate.found = candidate.found | first_wins(first);
  }
  return candidate;
}
