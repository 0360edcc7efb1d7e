// Accumulators of a reduction: identity, accumulate (`lift`), combine and finalize. These functions state the rules on
// ties and NaN for every pooling kernel; reduce/max_of_keys.wgsl has faster variants by the same rules. Which elements
// win is stated by the keys (reduce/max.wgsl).
//
//   element --lift--> accumulator (key, element, place) --combine--> accumulator of all --finalize--> window's result
//
// Ties: among equal keys the first element wins, except that among NaN the last one wins under PROPAGATE_LAST.
// NaN: under SEED_FIRST no NaN wins by its key, but a NaN that is the first element of its window is the result of the
// window (`finalize`). Under PROPAGATE_LAST every NaN has the largest key. Under SEED_LOWEST and IGNORE no NaN wins; a
// window without a winner has a value of its own, and that of IGNORE is the value of empty windows (pool.lowest_value).
// No element: no key is a sentinel. The caller knows whether there was an element. `may_win` tells from the key of an
// element whether it wins if there is no other element.
// provides: Acc, identity, lift, only, lift_in_order, raw_of, choose, combine, combine_anywhere, finalize
// requires: Key, SMALLEST_KEY, LARGEST_KEY, LAST_RAW, FLOATS, Raw, rank, greater, nan_policy, PROPAGATE_LAST, first_wins
struct Acc {
  // The key of the best element.
  key: Key,
  // The best element.
  raw: Raw,
  // The element's position in X, or a number that grows with it.
  at: u32,
}

// The identity, at the position of a window's first element. Its key is the smallest, so it wins only over elements
// with the same key.
fn identity(first: u32) -> Acc {
  return Acc(SMALLEST_KEY, LAST_RAW, first);
}

// One element as an accumulator.
fn lift(raw: Raw, at: u32) -> Acc {
  return Acc(rank(raw), raw, at);
}

// The accumulator if `counts`, otherwise one with the smallest key.
fn only(one: Acc, counts: bool) -> Acc {
  return Acc(select(SMALLEST_KEY, one.key, counts), one.raw, one.at);
}

// `lift` for elements that are read in order. Other variants of this part store the order number in the key.
fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  return lift(raw, at);
}

// The element of an accumulator.
fn raw_of(best: Acc) -> Raw {
  return best.raw;
}

// Selects `a` if `first`, else `b`.
fn choose(a: Acc, b: Acc, first: bool) -> Acc {
  return Acc(select(b.key, a.key, first), select(b.raw, a.raw, first), select(b.at, a.at, first));
}

fn propagates(best: Key) -> bool {
  return FLOATS & (nan_policy() == PROPAGATE_LAST) & !greater(LARGEST_KEY, best);
}

// Combines two accumulators; the elements of `a` precede those of `b`.
fn combine(a: Acc, b: Acc) -> Acc {
  let second = greater(b.key, a.key) | propagates(b.key);
  return Acc(select(a.key, b.key, second), select(a.raw, b.raw, second), select(a.at, b.at, second));
}

// Combines two accumulators in any order.
fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  let of_equals = select((b.at < a.at), (b.at > a.at), propagates(b.key));
  let second = greater(b.key, a.key) | (of_equals & !greater(a.key, b.key));
  return Acc(select(a.key, b.key, second), select(a.raw, b.raw, second), select(a.at, b.at, second));
}

// The result of a window whose elements have all been combined.
fn finalize(best: Acc, first: Raw, first_at: u32) -> Acc {
  let wins = first_wins(first);
  return Acc(select(best.key, rank(first), wins), select(best.raw, first, wins), select(best.at, first_at, wins));
}
