// The maximum of a window as a reduction: which elements may win, which of two wins, and what comes out. Every pooling kernel
// reduces by these functions, so that each rule stands once.
//
//   element --lift--> accumulator (key, element, place) --combine--> accumulator of all --finalize--> the window's result
//
// Ties: of equal keys the element that stands first wins; where NaN propagates, the last NaN.
// NaN: under SEED_FIRST no NaN wins by its key, but a NaN that is the first element of its window wins in the end; under
// PROPAGATE_LAST every NaN has the largest key; under SEED_LOWEST, and under the policy behind these three, that of a part of
// a window that does not begin with the window, no NaN wins at all.
// Absent: no key means it. Whether there was an element is known to the caller, and whether an element may win where there is
// no other is asked of its key.
// provides: Acc, SEED_FIRST, PROPAGATE_LAST, SEED_LOWEST, rank, may_win, identity, lift, only, lift_in_order, raw_of, choose, combine, combine_anywhere, first_wins, holds_nan, finalize
// requires: Key, SMALLEST_KEY, LARGEST_KEY, SMALLEST_NUMBER, SMALLEST_RAW, FLOATS, Raw, key, key_nan_lowest, is_nan, greater, from_pair, nan_policy, pool
const SEED_FIRST: u32 = 0u;
const PROPAGATE_LAST: u32 = 1u;
const SEED_LOWEST: u32 = 2u;

struct Acc {
  // The order of the best element.
  key: Key,
  // The best element.
  raw: Raw,
  // Where it stands: a position in X, or a number that grows with it.
  at: u32,
}

// The order in which elements win.
fn rank(raw: Raw) -> Key {
  var order = key(raw);
  if (nan_policy() != PROPAGATE_LAST) {
    order = key_nan_lowest(raw);
  }
  return order;
}

// Whether an element of this key wins where there is no other one.
fn may_win(best: Key) -> bool {
  var may = !FLOATS | (nan_policy() == PROPAGATE_LAST) | !greater(SMALLEST_NUMBER, best);
  if (nan_policy() == SEED_LOWEST) {
    may = greater(best, key_nan_lowest(from_pair(pool.lowest_value)));
  }
  return may;
}

// What stands at the place of a window's first element and wins against none of its elements but those that equal it.
fn identity(first: u32) -> Acc {
  return Acc(SMALLEST_KEY, SMALLEST_RAW, first);
}

// One element as an accumulator.
fn lift(raw: Raw, at: u32) -> Acc {
  return Acc(rank(raw), raw, at);
}

// An accumulator where it counts, and else one that wins against none.
fn only(one: Acc, counts: bool) -> Acc {
  return Acc(select(SMALLEST_KEY, one.key, counts), one.raw, one.at);
}

// As `lift` for elements that are looked at in their order, which their accumulators may hold in another way.
fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  return lift(raw, at);
}

// The element of an accumulator.
fn raw_of(best: Acc) -> Raw {
  return best.raw;
}

// One accumulator or another.
fn choose(a: Acc, b: Acc, first: bool) -> Acc {
  return Acc(select(b.key, a.key, first), select(b.raw, a.raw, first), select(b.at, a.at, first));
}

fn propagates(best: Key) -> bool {
  return FLOATS & (nan_policy() == PROPAGATE_LAST) & !greater(LARGEST_KEY, best);
}

// Of two accumulators the first of which stands before the second.
fn combine(a: Acc, b: Acc) -> Acc {
  let second = greater(b.key, a.key) | propagates(b.key);
  return Acc(select(a.key, b.key, second), select(a.raw, b.raw, second), select(a.at, b.at, second));
}

// Of two accumulators wherever they stand.
fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  let of_equals = select((b.at < a.at), (b.at > a.at), propagates(b.key));
  let second = greater(b.key, a.key) | (of_equals & !greater(a.key, b.key));
  return Acc(select(a.key, b.key, second), select(a.raw, b.raw, second), select(a.at, b.at, second));
}

// Whether the first element of a window wins whatever its key.
fn first_wins(first: Raw) -> bool {
  return (nan_policy() == SEED_FIRST) & is_nan(first);
}

// Whether nothing but NaN has been seen, where no NaN wins by its key.
fn holds_nan(best: Acc) -> bool {
  return greater(SMALLEST_NUMBER, best.key);
}

// The result of a window all of whose elements have been combined.
fn finalize(best: Acc, first: Raw, first_at: u32) -> Acc {
  let wins = first_wins(first);
  return Acc(select(best.key, rank(first), wins), select(best.raw, first, wins), select(best.at, first_at, wins));
}
