// Writing the indices of a thread tile.
// provides: put_four_indices
// requires: Outcome, Origin, index_from, pool

//// put_indices: Writing indices one by one, in the order of the index tensor.
// provides: put_index, put_index_in
// requires: volume, store_index, store_position, SAME_PLACE, CHANNELS_INSIDE, CHANNELS_ALONG
// The distance in the index tensor between the indices of neighbouring points of Y, where the layouts of Y and of the
// indices differ.
fn step_of_points() -> u32 {
  var step = 1u;
  if (CHANNELS_INSIDE == 0u) {
    step = pool.channels;
  }
  return step;
}

fn place_in(point: u32, output: u32, origin: Origin) -> u32 {
  var place = output;
  if (SAME_PLACE == 0u) {
    place = point * step_of_points() + origin.store;
  }
  return place - pool.store_first;
}

// Writes the index of an output given by its number alone.
fn put_index(output: u32, result: Outcome, origin: Origin) {
  var place = output;
  if (SAME_PLACE == 0u && CHANNELS_ALONG == 0u) {
    place = store_position(output);
  }
  if (SAME_PLACE == 0u && CHANNELS_ALONG != 0u) {
    let item = origin.store * volume();
    let point = (output - item) / pool.channels;
    place = item + point + (output - item - point * pool.channels) * pool.outputs_of_channel;
  }
  store_index(place - pool.store_first, index_from(output, result, origin, 0u));
}

// Writes the index of an output given by its point of Y.
fn put_index_in(point: u32, output: u32, result: Outcome, origin: Origin) {
  store_index(place_in(point, output, origin), index_from(output, result, origin, 0u));
}

fn put_four_indices(point: u32, output: u32, a: Outcome, b: Outcome, c: Outcome, d: Outcome, origin: Origin) {
  if (CHANNELS_ALONG != 0u) {
    put_index(output, a, origin);
    put_index(output + 1u, b, origin);
    put_index(output + 2u, c, origin);
    put_index(output + 3u, d, origin);
    return;
  }
  let place = place_in(point, output, origin);
  var step = 1u;
  if (SAME_PLACE == 0u) {
    step = step_of_points();
    if (CHANNELS_INSIDE != 0u) {
      step = volume();
    }
  }
  store_index(place, index_from(output, a, origin, 0u));
  store_index(place + step, index_from(output + 1u, b, origin, 1u));
  store_index(place + 2u * step, index_from(output + 2u, c, origin, 2u));
  store_index(place + 3u * step, index_from(output + 3u, d, origin, 3u));
}

//// put_indices_i32 when WRITES == 4 && PUT_FOURS && SAME_PLACE: Writing four 32-bit indices at once, in the order of
// Y. Plans are refused where 32-bit indices could overflow, so the low word is the index.
// provides: indices_out
@group(0) @binding(10) var<storage, read_write> indices_out: array<vec4<u32>>;

fn put_four_indices(point: u32, output: u32, a: Outcome, b: Outcome, c: Outcome, d: Outcome, origin: Origin) {
  let place = (output - pool.store_first) >> 2u;
  indices_out[place] = vec4<u32>(
    index_from(output, a, origin, 0u).x,
    index_from(output + 1u, b, origin, 1u).x,
    index_from(output + 2u, c, origin, 2u).x,
    index_from(output + 3u, d, origin, 3u).x,
  );
}

//// put_indices_i64 when WRITES == 8 && PUT_FOURS && SAME_PLACE: Writing four 64-bit indices at once, in the order of
// Y.
// provides: indices_out
@group(0) @binding(10) var<storage, read_write> indices_out: array<vec4<u32>>;

fn put_four_indices(point: u32, output: u32, a: Outcome, b: Outcome, c: Outcome, d: Outcome, origin: Origin) {
  let pair = (output - pool.store_first) >> 1u;
  indices_out[pair] = vec4<u32>(index_from(output, a, origin, 0u), index_from(output + 1u, b, origin, 1u));
  indices_out[pair + 1u] = vec4<u32>(index_from(output + 2u, c, origin, 2u), index_from(output + 3u, d, origin, 3u));
}
