// The maxima of lanes, without places. `joined` joins the maxima of two groups of taps, and those of `p` precede
// those of `q`.
// provides: Best, one, joined, result_of
// requires: Lanes

//// max_of_integers_in_lanes when !PLACED && !FLOAT: Of integers.
// requires: lane_from, from_pair, pool, NAN_POLICY, SEED_LOWEST
alias Best = Lanes;

fn one(taps: Lanes, number: u32) -> Best {
  return taps;
}

fn joined(p: Best, q: Best) -> Best {
  return max(p, q);
}

fn result_of(best: Best) -> Lanes {
  var result = best;
  if (NAN_POLICY == SEED_LOWEST) {
    result = max(result, Lanes(lane_from(from_pair(pool.lowest_value))));
  }
  return result;
}

//// max_of_floats_in_lanes when !PLACED && FLOAT: Of floats of up to 32 bits, without a key. The bits of non-negative
// floats are integers in the same order, those of negative floats in the opposite order. So the maximum is the largest
// integer if that is not negative, or else the smallest one.
//
// Three things are not decided like this, and can be told: a NaN, by bits beyond those of infinity; both zeros in one
// window, of which the first wins; and, under SEED_LOWEST, a maximum that does not exceed the lowest value. Whoever
// meets one of them has to compute it otherwise. Under IGNORE a NaN is no doubt (thread_tile/lanes.wgsl).
// provides: ordered
// requires: Numbers, either, NAN_POLICY, PROPAGATE_LAST
struct Best {
  most: Lanes,
  least: Lanes,
  // The bits in which a NaN with a sign counts: the window's first tap, which alone such a NaN wins from, or all taps
  // under PROPAGATE_LAST.
  signed: Numbers,
}

fn one(taps: Lanes, number: u32) -> Best {
  return Best(taps, taps, Numbers(taps));
}

fn joined(p: Best, q: Best) -> Best {
  var signed = p.signed;
  if (NAN_POLICY == PROPAGATE_LAST) {
    signed = max(p.signed, q.signed);
  }
  return Best(max(p.most, q.most), min(p.least, q.least), signed);
}

fn result_of(best: Best) -> Lanes {
  return Lanes(either(Numbers(best.least), Numbers(best.most), best.most >= Lanes(0)));
}

// A number by which results compare with the lowest value.
fn ordered(lanes: Lanes) -> Lanes {
  return lanes ^ Lanes((Numbers(lanes >> Numbers(31u))) >> Numbers(1u));
}
