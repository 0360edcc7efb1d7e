// The element at the place of a maximum, and its point. X is read once more, since equal keys do not
// tell a zero from the other one, nor a NaN from another.
// provides: Outcome, outcome_of
// requires: Place, point_of, Raw, Key, element_at, lane_channel, one_at, may_win, from_pair, pool, activate
struct Outcome {
  // The element for Y.
  raw: Raw,
  // The winner's point, if there is one.
  at: u32,
  found: bool,
}

fn outcome_of(place: Place, lane: u32, best: Key, number: u32, first: bool) -> Outcome {
  let point = point_of(place, number, lane);
  let raw = one_at(element_at(point, place.channel + lane_channel(lane)) - pool.x_first);
  let found = first | may_win(best);
  return Outcome(activate(select(from_pair(pool.lowest_value), raw, found)), point, found);
}
