// The maximum of a window: larger elements win, or smaller ones (reduce/mirror.wgsl).
// provides: rank, may_win, holds_nan, LAST_RAW
// requires: Acc, PROPAGATE_LAST, SEED_LOWEST, Key, SMALLEST_NUMBER, SMALLEST_RAW, FLOATS, Raw, key, key_nan_lowest, greater, from_pair, nan_policy, pool, MIRROR, mirrored
// The element of the identity: the element that has the smallest key, if there is one.
const LAST_RAW: Raw = SMALLEST_RAW ^ MIRROR;

// The key by which elements win.
fn rank(raw: Raw) -> Key {
  var order = key(mirrored(raw));
  if (nan_policy() != PROPAGATE_LAST) {
    order = key_nan_lowest(mirrored(raw));
  }
  return order;
}

// Whether an element with this key wins if there is no other element.
fn may_win(best: Key) -> bool {
  var may = !FLOATS | (nan_policy() == PROPAGATE_LAST) | !greater(SMALLEST_NUMBER, best);
  if (nan_policy() == SEED_LOWEST) {
    may = greater(best, key_nan_lowest(mirrored(from_pair(pool.lowest_value))));
  }
  return may;
}

// Whether all accumulated elements are NaN, under a policy where no NaN wins by its key.
fn holds_nan(best: Acc) -> bool {
  return greater(SMALLEST_NUMBER, best.key);
}
