// Every window has a winner.
// provides: index_without_winner
// requires: Acc
fn index_without_winner(output: u32, best: Acc, found: bool, index: vec2<u32>) -> vec2<u32> {
  return index;
}
