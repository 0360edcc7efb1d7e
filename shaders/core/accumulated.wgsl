// The winner of a window that was looked at in parts. X is not here, but the window's first element is.
// provides: winner
// requires: Candidate, first_wins, finalize, accumulated
fn winner(output: u32) -> Candidate {
  let known = accumulated(output);
  var candidate = known.candidate;
  if (candidate.seen) {
    candidate.best = finalize(candidate.best, known.first_raw, candidate.first);
    candidate.found = candidate.found | first_wins(known.first_raw);
  }
  return candidate;
}
