// The last pass of sliding maxima settles what a window results in.
// provides: emit
// requires: Acc, First, Walk, settle, may_win, from_pair, nan_policy, SEED_LOWEST, store_value, found_at, store_found, pool
fn emit(walk: Walk, first: First, output: u32, best: Acc) {
  let number = walk.output + output * walk.output_step;
  var one = settle(first, output, Acc(best.key, best.raw, found_at(best.at)));
  var found = true;
  // Only here can a window have elements and no winner.
  if (nan_policy() == SEED_LOWEST) {
    found = may_win(one.key);
    one.raw = select(from_pair(pool.lowest_value), one.raw, found);
  }
  store_value(number, one.raw);
  store_found(number, one.at, found);
}
