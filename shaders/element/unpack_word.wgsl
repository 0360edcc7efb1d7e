// Accumulates those elements of a word, in order, that are among the `count` elements from element `first` on. The
// first in the word is element `at`.
// provides: accumulate_some_of_word
// requires: Acc, OUTPUTS, extract, combine, lift, only
fn accumulate_some_of_word(best: Acc, word: u32, at: u32, first: u32, count: u32) -> Acc {
  var all = best;
  for (var lane = 0u; lane < OUTPUTS; lane++) { // unrolled
    all = combine(all, only(lift(extract(word, lane), at + lane), at + lane - first < count));
  }
  return all;
}
