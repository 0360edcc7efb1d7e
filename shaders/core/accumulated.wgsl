// The winner of a window that was reduced in parts. X is not bound; the accumulator holds the window's first element.
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
