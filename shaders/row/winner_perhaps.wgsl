// SEED_LOWEST: a window may have no winner, and has an index of its own then.
// provides: index_without_winner
// requires: Acc, Candidate, index_of
fn index_without_winner(output: u32, best: Acc, found: bool, index: vec2<u32>) -> vec2<u32> {
  if (found) {
    return index;
  }
  return index_of(output, Candidate(best, false, best.at, true));
}
