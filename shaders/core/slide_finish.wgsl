// when LAST: The last pass of sliding maxima finalizes windows: it writes values and indices.
// provides: emit
// requires: PARTIAL, Acc, Cell, Elements, LANES, Raw, Run, raw_of, may_win, from_pair, nan_policy, result_of, SEED_LOWEST, IGNORE, store_values, place_of_winner, store_place, pool
// One lane: writes its index, if the output exists, and returns its value.
fn finish(number: u32, best: Acc, exists: bool) -> Raw {
  // Only under SEED_LOWEST and IGNORE can a window with taps have no winner.
  let found = may_win(best.key) || (nan_policy() != SEED_LOWEST && nan_policy() != IGNORE);
  if (exists) {
    store_place(number, place_of_winner(best.at), found);
  }
  return result_of(select(from_pair(pool.lowest_value), raw_of(best), found));
}

fn emit(run: Run, output: u32, best: Cell) {
  let number = run.output + output * run.output_step;
  let a = finish(number, best.a, PARTIAL == 0u || run.lanes > 0u);
  var elements = Elements(a, a, a, a);
  if (LANES > 1u) {
    elements.b = finish(number + 1u, best.b, PARTIAL == 0u || run.lanes > 1u);
  }
  if (LANES > 2u) {
    elements.c = finish(number + 2u, best.c, PARTIAL == 0u || run.lanes > 2u);
    elements.d = finish(number + 3u, best.d, PARTIAL == 0u || run.lanes > 3u);
  }
  store_values(number, elements, run.lanes);
}
