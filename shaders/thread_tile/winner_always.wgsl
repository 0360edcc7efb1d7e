// Every window has a winner.
// provides: index_without_winner
// requires: Outcome
fn index_without_winner(output: u32, result: Outcome, index: vec2<u32>) -> vec2<u32> {
  return index;
}
