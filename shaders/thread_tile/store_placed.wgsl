// The writing of outputs by their keys, and of their indices.
// provides: store_placed

//// store_one when pool_thread_tile && ABREAST == 1 && BYTES <= 4: One output, by its key.
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

//// store_in_word when pool_words: One output of a word.
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

//// store_one_pair when ABREAST == 1 && BYTES == 8: One output of 64 bits.
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

//// store_four when pool_thread_tile && ABREAST == 4 && BYTES <= 4: Four outputs.
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

//// store_kept when pool_shared_words: Four outputs, for the words of Y, and the indices of those in the line.
// requires: Place, output_of, outcome_of, Outcome, Origin, Placed, numbers_of, keys_in, Numbers, either, pool, origin_of, Elements, keep_outputs, put_index, put_index_in, CHANNELS_ALONG, OUTPUTS_BETWEEN
fn put_index_at(place: Place, line: u32, lane: u32, outcome: Outcome, origin: Origin) {
  let output = output_of(place, line) + lane;
  let between = line * OUTPUTS_BETWEEN;
  let exists = place.out_top + between < pool.axes[1].output && place.out_column + lane < pool.axes[2].output;
  if (exists && output < pool.outputs) {
    if (CHANNELS_ALONG != 0u) {
      put_index(output + pool.output_first, outcome, origin);
    } else {
      let point = place.point + between * pool.axes[2].output + lane;
      put_index_in(point, output + pool.output_first, outcome, origin);
    }
  }
}

fn store_placed(place: Place, line: u32, best: Placed) {
  let keys = keys_in(best);
  let at = either(numbers_of(best), Numbers(best.first_at), best.first);
  let a = outcome_of(place, 0u, keys.x, at.x, best.first.x);
  let b = outcome_of(place, 1u, keys.y, at.y, best.first.y);
  let c = outcome_of(place, 2u, keys.z, at.z, best.first.z);
  let d = outcome_of(place, 3u, keys.w, at.w, best.first.w);
  keep_outputs(line, Elements(a.raw, b.raw, c.raw, d.raw));
  let origin = origin_of(place.outer, place.plane, place.channel);
  put_index_at(place, line, 0u, a, origin);
  put_index_at(place, line, 1u, b, origin);
  put_index_at(place, line, 2u, c, origin);
  put_index_at(place, line, 3u, d, origin);
}

//// store_four_pairs when ABREAST == 4 && BYTES == 8: Four outputs of 64 bits.
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
