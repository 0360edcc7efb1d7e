// The maximum of a window of 16-bit floats, by the rules of reduce/accumulator.wgsl, for policies where no NaN wins by
// its key, and for elements that are read in order. The key alone determines the element, so one `max` decides. The
// upper half of a key is the value. The lower half holds the order number, largest for the first element, and the sign
// bit, which distinguishes the two zeros.
// provides: Acc, SEED_FIRST, PROPAGATE_LAST, SEED_LOWEST, lift_in_order, choose, combine, combine_anywhere, raw_of, may_win, first_wins, holds_nan
// requires: Raw, Key, SMALLEST_NUMBER, ZERO, is_nan, key_nan_lowest, from_pair, nan_policy, pool
const SEED_FIRST: u32 = 0u;
const PROPAGATE_LAST: u32 = 1u;
const SEED_LOWEST: u32 = 2u;

struct Acc {
  key: Key,
  at: u32,
}

fn lift_in_order(raw: Raw, at: u32, order: u32) -> Acc {
  return Acc(key_nan_lowest(raw) + (0xfffeu - (order << 1u)) + (raw >> 15u), at);
}

// Selects `a` if `first`, else `b`.
fn choose(a: Acc, b: Acc, first: bool) -> Acc {
  return Acc(select(b.key, a.key, first), select(b.at, a.at, first));
}

// Combines two accumulators; the elements of `a` precede those of `b`.
fn combine(a: Acc, b: Acc) -> Acc {
  return Acc(max(a.key, b.key), select(a.at, b.at, b.key > a.key));
}

// Combines two accumulators in any order: the keys hold the order numbers.
fn combine_anywhere(a: Acc, b: Acc) -> Acc {
  return combine(a, b);
}

fn raw_of(best: Acc) -> Raw {
  let number = (best.key & 0xffff0000u) - key_nan_lowest(ZERO);
  let sign = u32(i32(number) >> 31u);
  let magnitude = ((number ^ sign) - sign) >> 16u;
  return magnitude | select(sign & 0x8000u, (best.key & 1u) << 15u, number == 0u);
}

fn may_win(best: Key) -> bool {
  return nan_policy() != SEED_LOWEST || best > (key_nan_lowest(from_pair(pool.lowest_value)) | 0xffffu);
}

// Whether all accumulated elements are NaN.
fn holds_nan(best: Acc) -> bool {
  return best.key < SMALLEST_NUMBER;
}

fn first_wins(first: Raw) -> bool {
  return (nan_policy() == SEED_FIRST) & is_nan(first);
}
