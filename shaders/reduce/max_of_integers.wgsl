// The maximum of a window of integers, by the rules of reduce/accumulator.wgsl, for elements that are read in order.
// The key alone determines the element. Among equal keys the first is kept.
// provides: Acc, SEED_FIRST, PROPAGATE_LAST, SEED_LOWEST, lift_in_order, choose, combine, combine_anywhere, raw_of, may_win, first_wins
// requires: Key, Raw, ZERO, key, greater, from_pair, nan_policy, pool
const SEED_FIRST: u32 = 0u;
const PROPAGATE_LAST: u32 = 1u;
const SEED_LOWEST: u32 = 2u;

struct Acc {
  key: Key,
  at: u32,
}

fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  return Acc(key(raw), at);
}

// Selects `a` if `first`, else `b`.
fn choose(a: Acc, b: Acc, first: bool) -> Acc {
  return Acc(select(b.key, a.key, first), select(b.at, a.at, first));
}

// Combines two accumulators; the elements of `a` precede those of `b`.
fn combine(a: Acc, b: Acc) -> Acc {
  let second = greater(b.key, a.key);
  return Acc(select(a.key, b.key, second), select(a.at, b.at, second));
}

// Combines two accumulators in any order.
fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  let second = greater(b.key, a.key) | ((b.at < a.at) & !greater(a.key, b.key));
  return Acc(select(a.key, b.key, second), select(a.at, b.at, second));
}

// The element of a key: integer keys are the elements with some bits inverted.
fn raw_of(best: Acc) -> Raw {
  return best.key ^ key(ZERO);
}

fn may_win(best: Key) -> bool {
  return nan_policy() != SEED_LOWEST || greater(best, key(from_pair(pool.lowest_value)));
}

fn first_wins(first: Raw) -> bool {
  return false;
}
