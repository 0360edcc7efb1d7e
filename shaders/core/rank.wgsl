// The order of a window's elements where they are visited in their order, so that of equals the first one seen stays.
// provides: seed, takes, found
// requires: rank, may_win, Key, LARGEST_KEY, Raw, is_nan, greater, NAN_POLICY, SEED_FIRST, PROPAGATE_LAST
// A window's first element. Under SEED_FIRST it stays if it is a NaN, whose key is the largest.
fn seed(raw: Raw) -> Key {
  return select(rank(raw), LARGEST_KEY, (NAN_POLICY == SEED_FIRST) & is_nan(raw));
}

fn takes(new_key: Key, raw: Raw, old_key: Key) -> bool {
  return greater(new_key, old_key) | ((NAN_POLICY == PROPAGATE_LAST) & is_nan(raw));
}

// SEED_LOWEST: a window may have no winner.
fn found(best: Key) -> bool {
  return may_win(best);
}
