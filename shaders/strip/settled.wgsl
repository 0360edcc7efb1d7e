// The element that is written for a window, from what is kept of it. The window has a line and a column in the strip;
// `number` is that of the output in this dispatch.
// provides: settled
// requires: Place, Origin, Kept, Raw

//// settled_integers when !PLACED && !FLOAT: Of integers.
// requires: activate, raws_of
fn settled(place: Place, origin: Origin, line: u32, column: u32, number: u32, kept: Kept, turn: u32) -> Raw {
  return activate(raws_of(kept));
}

//// settled_floats when !PLACED && FLOAT: Of floats, in three turns (strip/turns.wgsl).
// requires: activate, raws_of, extract, y, OUTPUTS, lane_from, note_zero, ZERO_CODE, NAN_CODE, has_codes, NAN_POLICY, SEED_FIRST, SEED_LOWEST, is_nan, element_of, first_tap, ordered, pool, from_pair, Lanes
fn settled(place: Place, origin: Origin, line: u32, column: u32, number: u32, kept: Kept, turn: u32) -> Raw {
  var raw = raws_of(kept);
  note_zero(kept);
  if (NAN_POLICY == SEED_LOWEST) {
    let lowest = from_pair(pool.lowest_value);
    raw = select(raw, lowest, ordered(kept) <= ordered(Lanes(lane_from(lowest))));
  }
  if (turn == 2u) {
    let code = select(0u, extract(y[number / OUTPUTS], number % OUTPUTS), has_codes());
    if (code >= NAN_CODE) {
      raw = element_of(place, code - NAN_CODE);
    } else if (code != 0u && (kept << 1u) == 0) {
      raw = element_of(place, ZERO_CODE - code);
    }
    if (NAN_POLICY == SEED_FIRST) {
      let begin = element_of(place, first_tap(line, column));
      raw = select(raw, begin, is_nan(begin));
    }
  }
  return select(activate(raw), u32(kept), turn == 1u);
}

//// settled_places when PLACED: The element at the place of a maximum. Its index is written.
// requires: FLOATS, NAN_POLICY, SEED_FIRST, is_nan, nan_met, element_of, first_tap, best_of, numbers_of, keys_in, outcome_of, put_index_in, pool
fn settled(place: Place, origin: Origin, line: u32, column: u32, number: u32, kept: Kept, turn: u32) -> Raw {
  let best = best_of(kept);
  var at = numbers_of(best);
  var wins = false;
  if (FLOATS && NAN_POLICY == SEED_FIRST) {
    if (nan_met()) {
      wins = is_nan(element_of(place, first_tap(line, column)));
      at = select(at, first_tap(line, column), wins);
    }
  }
  let outcome = outcome_of(place, 0u, keys_in(best), at, wins);
  let point = place.point + line * pool.axes[2].output + column;
  put_index_in(point, number + pool.output_first, outcome, origin);
  return outcome.raw;
}
