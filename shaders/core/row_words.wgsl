// Accumulates the elements of a window's row in their order. The elements are contiguous, several to a word, and LOADS
// words are in flight. Every row takes the steps of the longest row, so that neighbouring invocations do not diverge.
// provides: accumulate_row
// requires: pool, x, OUTPUTS, Acc, accumulate_some_of_word, LOADS, CHUNKS
fn accumulate_row(best: Acc, begin: u32, count: u32, step: u32) -> Acc {
  let first = begin - pool.x_first;
  let last = (first + count - 1u) / OUTPUTS;
  var all = best;
  var next = first / OUTPUTS;
  for (var chunk = 0u; chunk < CHUNKS; chunk++) {
    let word = min(next, last);
    next += LOADS;
    // Reading the last word twice does not change the maximum.
    let word_1 = min(word + 1u, last);
    let word_2 = min(word + 2u, last);
    let word_3 = min(word + 3u, last);
    let word_4 = min(word + 4u, last);
    let word_5 = min(word + 5u, last);
    let word_6 = min(word + 6u, last);
    let word_7 = min(word + 7u, last);
    let of_0 = x[word];
    var of_1 = of_0;
    if (LOADS > 1u) {
      of_1 = x[word_1];
    }
    var of_2 = of_0;
    if (LOADS > 2u) {
      of_2 = x[word_2];
    }
    var of_3 = of_0;
    if (LOADS > 3u) {
      of_3 = x[word_3];
    }
    var of_4 = of_0;
    if (LOADS > 4u) {
      of_4 = x[word_4];
    }
    var of_5 = of_0;
    if (LOADS > 5u) {
      of_5 = x[word_5];
    }
    var of_6 = of_0;
    if (LOADS > 6u) {
      of_6 = x[word_6];
    }
    var of_7 = of_0;
    if (LOADS > 7u) {
      of_7 = x[word_7];
    }
    all = accumulate_some_of_word(all, of_0, pool.x_first + word * OUTPUTS, begin, count);
    if (LOADS > 1u) {
      all = accumulate_some_of_word(all, of_1, pool.x_first + word_1 * OUTPUTS, begin, count);
    }
    if (LOADS > 2u) {
      all = accumulate_some_of_word(all, of_2, pool.x_first + word_2 * OUTPUTS, begin, count);
    }
    if (LOADS > 3u) {
      all = accumulate_some_of_word(all, of_3, pool.x_first + word_3 * OUTPUTS, begin, count);
    }
    if (LOADS > 4u) {
      all = accumulate_some_of_word(all, of_4, pool.x_first + word_4 * OUTPUTS, begin, count);
    }
    if (LOADS > 5u) {
      all = accumulate_some_of_word(all, of_5, pool.x_first + word_5 * OUTPUTS, begin, count);
    }
    if (LOADS > 6u) {
      all = accumulate_some_of_word(all, of_6, pool.x_first + word_6 * OUTPUTS, begin, count);
    }
    if (LOADS > 7u) {
      all = accumulate_some_of_word(all, of_7, pool.x_first + word_7 * OUTPUTS, begin, count);
    }
  }
  return all;
}
