// Accumulates the elements of a window's row in their order.
// provides: accumulate_row
// requires: Acc, LOADS, CHUNKS

//// row_elements: LOADS loads are in flight. Every row takes the steps of the longest row, so that neighbouring
// invocations do not diverge.
// requires: element, combine, lift
fn accumulate_row(best: Acc, begin: u32, count: u32, step: u32) -> Acc {
  let last = begin + (count - 1u) * step;
  var all = best;
  var at = begin;
  for (var tap = 0u; tap < CHUNKS * LOADS; tap += LOADS) {
    // Reading the last element twice does not change the maximum.
    let at_0 = select(last, at, tap < count);
    let at_1 = select(last, at + 1u * step, tap + 1u < count);
    let at_2 = select(last, at + 2u * step, tap + 2u < count);
    let at_3 = select(last, at + 3u * step, tap + 3u < count);
    let at_4 = select(last, at + 4u * step, tap + 4u < count);
    let at_5 = select(last, at + 5u * step, tap + 5u < count);
    let at_6 = select(last, at + 6u * step, tap + 6u < count);
    let at_7 = select(last, at + 7u * step, tap + 7u < count);
    let raw_0 = element(at_0);
    var raw_1 = raw_0;
    if (LOADS > 1u) {
      raw_1 = element(at_1);
    }
    var raw_2 = raw_0;
    if (LOADS > 2u) {
      raw_2 = element(at_2);
    }
    var raw_3 = raw_0;
    if (LOADS > 3u) {
      raw_3 = element(at_3);
    }
    var raw_4 = raw_0;
    if (LOADS > 4u) {
      raw_4 = element(at_4);
    }
    var raw_5 = raw_0;
    if (LOADS > 5u) {
      raw_5 = element(at_5);
    }
    var raw_6 = raw_0;
    if (LOADS > 6u) {
      raw_6 = element(at_6);
    }
    var raw_7 = raw_0;
    if (LOADS > 7u) {
      raw_7 = element(at_7);
    }
    all = combine(all, lift(raw_0, at_0));
    if (LOADS > 1u) {
      all = combine(all, lift(raw_1, at_1));
    }
    if (LOADS > 2u) {
      all = combine(all, lift(raw_2, at_2));
    }
    if (LOADS > 3u) {
      all = combine(all, lift(raw_3, at_3));
    }
    if (LOADS > 4u) {
      all = combine(all, lift(raw_4, at_4));
    }
    if (LOADS > 5u) {
      all = combine(all, lift(raw_5, at_5));
    }
    if (LOADS > 6u) {
      all = combine(all, lift(raw_6, at_6));
    }
    if (LOADS > 7u) {
      all = combine(all, lift(raw_7, at_7));
    }
    at += LOADS * step;
  }
  return all;
}

//// row_words: The elements are contiguous, several to a word, and LOADS words are in flight. Every row takes the steps
// of the longest row, so that neighbouring invocations do not diverge.
// requires: pool, x, OUTPUTS, accumulate_some_of_word
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
