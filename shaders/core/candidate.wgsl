// The candidate for a window's maximum. There is no sentinel for "none": one flag says whether there is a winner,
// another whether the window has any element.
// provides: Candidate, consider, see, value_of
// requires: Acc, Raw, combine_anywhere, may_win, from_pair, pool
struct Candidate {
  // The best element that may win, valid if `found`.
  best: Acc,
  found: bool,
  // The position of the window's first element in X, valid if `seen`.
  first: u32,
  seen: bool,
}

// Accumulates an element at any position, in any order.
fn consider(candidate: ptr<function, Candidate>, one: Acc) {
  if (!may_win(one.key)) {
    return;
  }
  if ((*candidate).found) {
    (*candidate).best = combine_anywhere((*candidate).best, one);
  } else {
    (*candidate).best = one;
    (*candidate).found = true;
  }
}

fn see(candidate: ptr<function, Candidate>, position: u32) {
  if (!(*candidate).seen || position < (*candidate).first) {
    (*candidate).first = position;
    (*candidate).seen = true;
  }
}

// The value of a window before the activation.
fn value_of(candidate: Candidate) -> Raw {
  var raw = candidate.best.raw;
  if (!candidate.found) {
    raw = from_pair(pool.empty_value);
    if (candidate.seen) {
      raw = from_pair(pool.lowest_value);
    }
  }
  return raw;
}
