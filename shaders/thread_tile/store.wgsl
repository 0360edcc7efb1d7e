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

//// placed_maxima: Maxima with their places, as maxima.
// provides: Best, one, joined
// requires: Placed, placed, later, Lanes
alias Best = Placed;

fn one(taps: Lanes, number: u32) -> Best {
  return placed(taps, number);
}

fn joined(p: Best, q: Best) -> Best {
  return later(p, q);
}

//// places: Maxima with their places.
// provides: store_line
// requires: Place, Best, store_placed
fn store_line(place: Place, line: u32, best: Best) {
  store_placed(place, line, best);
}

//// store_one: One output, by its key.
// provides: store_placed
// requires: Place, output_of, outcome_of, Placed, numbers_of, keys_in, pool, origin_of, OUTPUTS_BETWEEN, put_index_in, y
fn store_placed(place: Place, line: u32, best: Placed) {
  let number = output_of(place, line);
  if (number < pool.outputs) {
    let keys = keys_in(best);
    let at = select(numbers_of(best), best.first_at, best.first);
    let outcome = outcome_of(place, 0u, keys, at, best.first);
    y[number] = outcome.raw;
    let point = place.point + line * OUTPUTS_BETWEEN * pool.axes[2].output;
    put_index_in(point, number + pool.output_first, outcome, origin_of(place.outer, place.plane, place.channel));
  }
}

//// store_in_word: One output of a word.
// provides: store_placed
// requires: Place, output_of, outcome_of, Placed, numbers_of, keys_in, pool, origin_of, OUTPUTS_BETWEEN, put_index_in, word, insert, OUTPUTS
fn store_placed(place: Place, line: u32, best: Placed) {
  let number = output_of(place, line);
  if (number < pool.outputs) {
    let keys = keys_in(best);
    let at = select(numbers_of(best), best.first_at, best.first);
    let outcome = outcome_of(place, 0u, keys, at, best.first);
    word = insert(word, number % OUTPUTS, outcome.raw);
    let point = place.point + line * OUTPUTS_BETWEEN * pool.axes[2].output;
    put_index_in(point, number + pool.output_first, outcome, origin_of(place.outer, place.plane, place.channel));
  }
}

//// store_one_pair: One output of 64 bits.
// provides: store_placed
// requires: Place, output_of, outcome_of, Placed, numbers_of, keys_in, pool, origin_of, OUTPUTS_BETWEEN, put_index_in, y
fn store_placed(place: Place, line: u32, best: Placed) {
  let number = output_of(place, line);
  if (number < pool.outputs) {
    let keys = keys_in(best);
    let at = select(numbers_of(best), best.first_at, best.first);
    let outcome = outcome_of(place, 0u, vec2<u32>(keys.low, keys.high), at, best.first);
    y[number] = outcome.raw;
    let point = place.point + line * OUTPUTS_BETWEEN * pool.axes[2].output;
    put_index_in(point, number + pool.output_first, outcome, origin_of(place.outer, place.plane, place.channel));
  }
}

//// store_four: Four outputs.
// provides: store_placed
// requires: Place, output_of, outcome_of, Placed, numbers_of, keys_in, Numbers, either, pool, origin_of, OUTPUTS_BETWEEN, Elements, put_four, put_four_indices
fn store_placed(place: Place, line: u32, best: Placed) {
  let number = output_of(place, line);
  if (number < pool.outputs) {
    let keys = keys_in(best);
    let at = either(numbers_of(best), Numbers(best.first_at), best.first);
    let a = outcome_of(place, 0u, keys.x, at.x, best.first.x);
    let b = outcome_of(place, 1u, keys.y, at.y, best.first.y);
    let c = outcome_of(place, 2u, keys.z, at.z, best.first.z);
    let d = outcome_of(place, 3u, keys.w, at.w, best.first.w);
    put_four(number, Elements(a.raw, b.raw, c.raw, d.raw));
    let point = place.point + line * OUTPUTS_BETWEEN * pool.axes[2].output;
    put_four_indices(point, number + pool.output_first, a, b, c, d, origin_of(place.outer, place.plane, place.channel));
  }
}

//// store_four_pairs: Four outputs of 64 bits.
// provides: store_placed
// requires: Place, output_of, outcome_of, Placed, numbers_of, keys_in, Numbers, either, pool, origin_of, OUTPUTS_BETWEEN, Elements, put_four, put_four_indices
fn store_placed(place: Place, line: u32, best: Placed) {
  let number = output_of(place, line);
  if (number < pool.outputs) {
    let keys = keys_in(best);
    let at = either(numbers_of(best), Numbers(best.first_at), best.first);
    let a = outcome_of(place, 0u, vec2<u32>(keys.low.x, keys.high.x), at.x, best.first.x);
    let b = outcome_of(place, 1u, vec2<u32>(keys.low.y, keys.high.y), at.y, best.first.y);
    let c = outcome_of(place, 2u, vec2<u32>(keys.low.z, keys.high.z), at.z, best.first.z);
    let d = outcome_of(place, 3u, vec2<u32>(keys.low.w, keys.high.w), at.w, best.first.w);
    put_four(number, Elements(a.raw, b.raw, c.raw, d.raw));
    let point = place.point + line * OUTPUTS_BETWEEN * pool.axes[2].output;
    put_four_indices(point, number + pool.output_first, a, b, c, d, origin_of(place.outer, place.plane, place.channel));
  }
}
