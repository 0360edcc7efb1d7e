// The result of an output, after its whole window has been reduced.
// provides: Outcome, outcome
// requires: Acc, Raw, may_win, first_wins, raw_of, from_pair, pool, activate
struct Outcome {
  // The element for Y.
  raw: Raw,
  // The winner's position, if there is one.
  at: u32,
  found: bool,
}

fn outcome(best: Acc, first: Raw, first_at: u32) -> Outcome {
  let first_one = first_wins(first);
  let found = may_win(best.key) | first_one;
  let raw = select(raw_of(best), first, first_one);
  return Outcome(activate(select(from_pair(pool.lowest_value), raw, found)), select(best.at, first_at, first_one), found);
}
