// The order of a window's elements where they are visited in their order, so that of equals the first one seen stays.
// provides: rank, seed, takes, found, start, known
// requires: Key, SMALLEST_KEY, Raw, is_nan, key, greater, from_pair, pool, NAN_POLICY, FLOATS, SEED_FIRST, PROPAGATE_LAST, SEED_LOWEST
// An element that is not its window's first. Where NaN does not propagate it has the smallest key, which never takes over.
fn rank(raw: Raw) -> Key {
  return select(key(raw), SMALLEST_KEY, (NAN_POLICY != PROPAGATE_LAST) & is_nan(raw));
}

// A window's first element. Under SEED_FIRST it stays if it is a NaN, whose key is the largest.
fn seed(raw: Raw) -> Key {
  return select(rank(raw), key(raw), NAN_POLICY == SEED_FIRST);
}

fn takes(new_key: Key, raw: Raw, old_key: Key) -> bool {
  return greater(new_key, old_key) | ((NAN_POLICY == PROPAGATE_LAST) & is_nan(raw));
}

// SEED_LOWEST: a window may have no winner.
fn found(best: Key) -> bool {
  return greater(best, key(from_pair(pool.lowest_value)));
}

// What the first element of those visited is compared with: a key that only an element that may win exceeds. The smallest
// integer has it too, so that the first element of all is the best to begin with.
fn start() -> Key {
  return select(SMALLEST_KEY, key(from_pair(pool.lowest_value)), NAN_POLICY == SEED_LOWEST);
}

fn known(best: Key, seen: bool) -> bool {
  return seen & ((!FLOATS & (NAN_POLICY != SEED_LOWEST)) | greater(best, start()));
}
