// How maxima lie in workgroup memory. `moved` adds `by` to the number of the winning tap.
// provides: Kept, kept_of, best_of, moved

//// kept_lanes when !PLACED: Values alone.
// requires: Best, one, result_of, Lanes
alias Kept = Lanes;

fn kept_of(best: Best) -> Kept {
  return result_of(best);
}

fn best_of(kept: Kept) -> Best {
  return one(kept, 0u);
}

fn moved(best: Best, by: u32) -> Best {
  return best;
}

//// kept_in_keys when PLACED && IN_KEYS: Keys that hold the number of the tap, complemented.
// requires: Best, Keys
alias Kept = Keys;

fn kept_of(best: Best) -> Kept {
  return best.key;
}

fn best_of(kept: Kept) -> Best {
  return Best(kept, 0u, false);
}

fn moved(best: Best, by: u32) -> Best {
  return Best(best.key - by, 0u, false);
}

//// kept_beside_keys when PLACED && !IN_KEYS: Keys, and the numbers of the taps.
// requires: Best, Keys
struct Kept {
  key: Keys,
  at: u32,
}

fn kept_of(best: Best) -> Kept {
  return Kept(best.key, best.at);
}

fn best_of(kept: Kept) -> Best {
  return Best(kept.key, kept.at, 0u, false);
}

fn moved(best: Best, by: u32) -> Best {
  return Best(best.key, best.at + by, 0u, false);
}
