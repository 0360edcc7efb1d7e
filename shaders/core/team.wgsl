// What the invocations of a team found, in workgroup memory, of WINDOWS windows each.
// provides: put_in_team, join_eights, best_of_team
// requires: WORKGROUP, WINDOWS, TEAM, Key, ZERO, Acc, combine_anywhere
var<workgroup> keys: array<Key, WORKGROUP * WINDOWS>;
var<workgroup> places: array<u32, WORKGROUP * WINDOWS>;

fn put_in_team(slot: u32, best: Acc) {
  keys[slot] = best.key;
  places[slot] = best.at;
}

// The best of `count` invocations, from `slot` on, which are `step` invocations apart.
fn best_of(slot: u32, count: u32, step: u32) -> Acc {
  var best = Acc(keys[slot], ZERO, places[slot]);
  for (var i = 1u; i < count; i++) {
    let other = slot + i * step * WINDOWS;
    best = combine_anywhere(best, Acc(keys[other], ZERO, places[other]));
  }
  return best;
}

// Waits for all invocations. In teams of more than eight, every eighth then has the best of eight.
fn join_eights(local: u32) {
  if (TEAM > 8u) {
    workgroupBarrier();
    if (local % 8u == 0u) {
      for (var window = 0u; window < WINDOWS; window++) {
        let slot = local * WINDOWS + window;
        put_in_team(slot, best_of(slot, 8u, 1u));
      }
    }
  }
  workgroupBarrier();
}

// The best that a team found of one of its windows, without the element.
fn best_of_team(team: u32, window: u32) -> Acc {
  let slot = team * TEAM * WINDOWS + window;
  var best: Acc;
  if (TEAM > 8u) {
    best = best_of(slot, TEAM / 8u, 8u);
  } else {
    best = best_of(slot, TEAM, 1u);
  }
  return best;
}
