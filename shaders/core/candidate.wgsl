// The candidate for a window's maximum: a position, with its key beside it, and no sentinel for "none".
// provides: Candidate, element, better, consider, see, settle, SEED_FIRST, PROPAGATE_LAST, SEED_LOWEST
// requires: Key, Raw, is_nan, key, greater, from_pair, load, nan_policy, pool
const SEED_FIRST: u32 = 0u;
const PROPAGATE_LAST: u32 = 1u;
const SEED_LOWEST: u32 = 2u;

struct Candidate {
  key: Key,
  // Where the best eligible element lies in X, if one was found.
  best: u32,
  found: bool,
  // Where the window's first element lies in X, if it has any.
  first: u32,
  seen: bool,
}

// An element of X by its position; the binding may begin later.
fn element(position: u32) -> Raw {
  return load(position - pool.x_first);
}

// Whether an element may win by comparison. A NaN under SEED_FIRST may not: `settle` looks at it. Under the policy behind
// these three, of a part of a window that does not begin with the window, no NaN wins at all.
fn eligible(raw: Raw) -> bool {
  let policy = nan_policy();
  if (policy == PROPAGATE_LAST) {
    return true;
  }
  if (is_nan(raw)) {
    return false;
  }
  return policy != SEED_LOWEST || greater(key(raw), key(from_pair(pool.lowest_value)));
}

// The tie rule, in its one place: of equal keys the smaller position wins, and of two NaN the larger. Visiting elements in
// any order gives the same winner.
fn better(new_key: Key, position: u32, nan: bool, candidate: Candidate) -> bool {
  if (!candidate.found || greater(new_key, candidate.key)) {
    return true;
  }
  if (greater(candidate.key, new_key)) {
    return false;
  }
  return select((position < candidate.best), (position > candidate.best), nan);
}

fn consider(candidate: ptr<function, Candidate>, position: u32, raw: Raw) {
  if (!eligible(raw)) {
    return;
  }
  let new_key = key(raw);
  if (better(new_key, position, is_nan(raw), *candidate)) {
    (*candidate).key = new_key;
    (*candidate).best = position;
    (*candidate).found = true;
  }
}

fn see(candidate: ptr<function, Candidate>, position: u32) {
  if (!(*candidate).seen || position < (*candidate).first) {
    (*candidate).first = position;
    (*candidate).seen = true;
  }
}

// SEED_FIRST: ignore NaN, then look once at the first valid element. If that is a NaN, it wins.
fn settle(candidate: ptr<function, Candidate>) {
  if (nan_policy() == SEED_FIRST && (*candidate).seen && is_nan(element((*candidate).first))) {
    (*candidate).best = (*candidate).first;
    (*candidate).found = true;
  }
}
