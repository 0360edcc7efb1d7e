// The candidate for a window's maximum, with no sentinel for "none": two flags say whether there is a winner, and an element.
// provides: Candidate, consider, see
// requires: Acc, combine_anywhere, may_win
struct Candidate {
  // The best element that may win, if one was found.
  best: Acc,
  found: bool,
  // Where the window's first element lies in X, if it has any.
  first: u32,
  seen: bool,
}

// Takes in an element, wherever it stands.
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
