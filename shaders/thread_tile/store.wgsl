// The results of a line of a thread tile, and their writing.

//// values: The maxima themselves.
// provides: store_line
// requires: Best, result_of, raws_of, Place, output_of, put_lanes, pool
fn store_line(place: Place, line: u32, best: Best) {
  let number = output_of(place, line);
  if (number < pool.outputs) {
    put_lanes(number, raws_of(result_of(best)));
  }
}

//// values_kept when !PLACED && pool_shared_words: The maxima themselves, for the words of Y.
// provides: store_line
// requires: Best, result_of, raws_of, Place, Elements, activate, keep_outputs
fn store_line(place: Place, line: u32, best: Best) {
  let raws = raws_of(result_of(best));
  keep_outputs(line, Elements(activate(raws.x), activate(raws.y), activate(raws.z), activate(raws.w)));
}

//// placed_maxima when PLACED: Maxima with their places, as maxima.
// provides: Best, one, joined
// requires: Placed, placed, later, Lanes
alias Best = Placed;

fn one(taps: Lanes, number: u32) -> Best {
  return placed(taps, number);
}

fn joined(p: Best, q: Best) -> Best {
  return later(p, q);
}

//// places when PLACED: Maxima with their places.
// provides: store_line
// requires: Place, Best, store_placed
fn store_line(place: Place, line: u32, best: Best) {
  store_placed(place, line, best);
}
