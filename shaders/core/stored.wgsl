// The maximum of a part of a plane, between the two dispatches of a reduction.
// provides: stored, of_stored
// requires: Acc

//// stored_with_key: A key of one word, and the position.
// requires: ZERO
fn stored(best: Acc) -> vec2<u32> {
  return vec2<u32>(best.key, best.at);
}

fn of_stored(stored: vec2<u32>) -> Acc {
  return Acc(stored.x, ZERO, stored.y);
}

//// stored_without_key: The position. A key of two words is computed again.
// requires: element, lift
fn stored(best: Acc) -> vec2<u32> {
  return vec2<u32>(0u, best.at);
}

fn of_stored(stored: vec2<u32>) -> Acc {
  return lift(element(stored.y), stored.y);
}
