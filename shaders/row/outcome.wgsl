// The result of an output, once its window has been seen whole.
// provides: Outcome, outcome
// requires: Acc, Raw, finalize, may_win, first_wins, from_pair, pool, activate
struct Outcome {
  // What goes to Y.
  raw: Raw,
  // Where the winner stands, if there is one.
  at: u32,
  found: bool,
}

fn outcome(best: Acc, first: Raw, first_at: u32) -> Outcome {
  let result = finalize(best, first, first_at);
  let found = may_win(result.key) | first_wins(first);
  return Outcome(activate(select(from_pair(pool.lowest_value), result.raw, found)), result.at, found);
}
