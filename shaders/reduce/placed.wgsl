// The maxima of lanes with the numbers of the taps that have them, by the keys and the rules of
// reduce/accumulator.wgsl. `later` joins the maxima of two groups of taps, of which those of `q` follow; `numbers_of`
// and `keys_in` are what was found.
// provides: Placed, placed, later, numbers_of, keys_in
// requires: Numbers, Truths, Lanes, Keys, keys_of, are_nan, FLOATS, NAN_POLICY, SEED_FIRST

//// placed_beside_keys: A number stands beside its key.
// requires: are_greater, are_largest, chosen, either, PROPAGATE_LAST
struct Placed {
  key: Keys,
  at: Numbers,
  // The number of the first tap, and whether it is a NaN that wins because it is the first.
  first_at: u32,
  first: Truths,
}

fn placed(taps: Lanes, number: u32) -> Placed {
  var first = Truths(false);
  if (FLOATS && NAN_POLICY == SEED_FIRST) {
    first = are_nan(taps);
  }
  return Placed(keys_of(taps), Numbers(number), number, first);
}

fn later(p: Placed, q: Placed) -> Placed {
  var second = are_greater(q.key, p.key);
  if (FLOATS && NAN_POLICY == PROPAGATE_LAST) {
    second = second | are_largest(q.key);
  }
  return Placed(chosen(p.key, q.key, second), either(p.at, q.at, second), p.first_at, p.first);
}

fn numbers_of(best: Placed) -> Numbers {
  return best.at;
}

fn keys_in(best: Placed) -> Keys {
  return best.key;
}

//// placed_in_keys when IN_KEYS: The keys of elements of up to 16 bits, for policies where no NaN wins by its key,
// leave room for a small number. It is complemented: the larger of two words has the larger key, and among equal keys
// the earlier tap.
struct Placed {
  key: Keys,
  first_at: u32,
  first: Truths,
}

fn placed(taps: Lanes, number: u32) -> Placed {
  var first = Truths(false);
  if (FLOATS && NAN_POLICY == SEED_FIRST) {
    first = are_nan(taps);
  }
  var keys = keys_of(taps);
  if (!FLOATS) {
    keys = keys << Numbers(16u);
  }
  return Placed(keys + Numbers(0xffffu - number), number, first);
}

fn later(p: Placed, q: Placed) -> Placed {
  return Placed(max(p.key, q.key), p.first_at, p.first);
}

fn numbers_of(best: Placed) -> Numbers {
  return Numbers(0xffffu) - (best.key & Numbers(0xffffu));
}

fn keys_in(best: Placed) -> Keys {
  var keys = best.key >> Numbers(16u);
  if (FLOATS) {
    keys = best.key & Numbers(0xffff0000u);
  }
  return keys;
}
