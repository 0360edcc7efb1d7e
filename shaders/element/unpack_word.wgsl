// Accumulates the elements of a word, in order.
// provides: accumulate_word, accumulate_some_of_word
// requires: Acc, OUTPUTS, extract, combine, lift, only
// Accumulates all elements of a word; the first is element `at`.
fn accumulate_word(best: Acc, word: u32, at: u32) -> Acc {
  var all = combine(best, lift(extract(word, 0u), at));
  if (OUTPUTS > 1u) {
    all = combine(all, lift(extract(word, 1u), at + 1u));
  }
  if (OUTPUTS > 2u) {
    all = combine(all, lift(extract(word, 2u), at + 2u));
    all = combine(all, lift(extract(word, 3u), at + 3u));
  }
  return all;
}

// Accumulates those elements of a word that are among the `count` elements from element `first` on.
fn accumulate_some_of_word(best: Acc, word: u32, at: u32, first: u32, count: u32) -> Acc {
  var all = combine(best, only(lift(extract(word, 0u), at), at - first < count));
  if (OUTPUTS > 1u) {
    all = combine(all, only(lift(extract(word, 1u), at + 1u), at + 1u - first < count));
  }
  if (OUTPUTS > 2u) {
    all = combine(all, only(lift(extract(word, 2u), at + 2u), at + 2u - first < count));
    all = combine(all, only(lift(extract(word, 3u), at + 3u), at + 3u - first < count));
  }
  return all;
}
