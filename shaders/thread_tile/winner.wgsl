// The index of a window without a winner.
// provides: index_without_winner
// requires: Outcome

//// winner_always: Every window has a winner.
fn index_without_winner(output: u32, result: Outcome, index: vec2<u32>) -> vec2<u32> {
  return index;
}

//// winner_perhaps when NAN_POLICY == SEED_LOWEST || NAN_POLICY == IGNORE: Under SEED_LOWEST and IGNORE a window may
// have no winner. Its index is then the one that the index convention gives to such windows.
// requires: plane_index
fn index_without_winner(output: u32, result: Outcome, index: vec2<u32>) -> vec2<u32> {
  var found = index;
  if (!result.found) {
    found = plane_index(output);
  }
  return found;
}
