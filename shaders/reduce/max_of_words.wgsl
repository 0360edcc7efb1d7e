// The maximum of a window of f32 as reduce/max.wgsl has it where no NaN wins by its key, of elements that are looked at in their
// order. An element is told by its key alone, so that one `max` decides: the keys of zeros also hold their sign and their
// order, the first one's being the largest.
//
//   NaN | -infinity .. -smallest | zeros, the last .. the first | +smallest .. +infinity
//
// provides: Acc, SEED_FIRST, PROPAGATE_LAST, SEED_LOWEST, lift_in_order, choose, combine, combine_anywhere, raw_of, may_win, first_wins, holds_nan
// requires: Raw, Key, is_nan, signed_magnitude, from_pair, nan_policy, pool
const SEED_FIRST: u32 = 0u;
const PROPAGATE_LAST: u32 = 1u;
const SEED_LOWEST: u32 = 2u;

// Keys of zeros: a bit for the sign, and the order, which stays below half of it.
const ZEROS: u32 = 0x10000u;
// The smallest of them. +infinity has the largest key of all, and NaN beyond it wraps around.
const FIRST_ZERO: u32 = 0x807effffu;

struct Acc {
  key: Key,
  at: u32,
}

fn ordered_key(raw: Raw, order: u32) -> Key {
  let number = signed_magnitude(raw);
  let zero = ZEROS - 2u - (order << 1u) + (raw >> 31u);
  return number + FIRST_ZERO + select(0u, ZEROS, i32(number) > 0) + select(0u, zero, number == 0u);
}

fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  return Acc(ordered_key(raw, order), at);
}

// One accumulator or another.
fn choose(a: Acc, b: Acc, first: bool) -> Acc {
  return Acc(select(b.key, a.key, first), select(b.at, a.at, first));
}

// Of two accumulators the first of which stands before the second.
fn combine(a: Acc, b: Acc) -> Acc {
  return Acc(max(a.key, b.key), select(a.at, b.at, b.key > a.key));
}

// Of two accumulators wherever they stand: equal keys of zeros hold their order.
fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  let second = b.key > a.key || (b.key == a.key && b.at < a.at);
  return Acc(select(a.key, b.key, second), select(a.at, b.at, second));
}

fn raw_of(best: Acc) -> Raw {
  let number = best.key - FIRST_ZERO;
  let negative = (0u - number) | 0x80000000u;
  let other = select(number - ZEROS, number << 31u, number < ZEROS);
  return select(other, negative, i32(number) < 0);
}

fn may_win(best: Key) -> bool {
  return nan_policy() != SEED_LOWEST || best > ordered_key(from_pair(pool.lowest_value), 0u);
}

// Whether nothing but NaN has been seen.
fn holds_nan(best: Acc) -> bool {
  return best.key < FIRST_ZERO - 0x7f800000u;
}

fn first_wins(first: Raw) -> bool {
  return (nan_policy() == SEED_FIRST) & is_nan(first);
}
