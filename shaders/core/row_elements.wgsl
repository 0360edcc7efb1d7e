// Accumulates the elements of a window's row in their order, with LOADS loads in flight. Every row takes the steps of
// the longest row, so that neighbouring invocations do not diverge.
// provides: accumulate_row
// requires: Acc, element, combine, lift, LOADS, CHUNKS
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
