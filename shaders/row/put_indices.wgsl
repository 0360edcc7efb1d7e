// Writing indices one by one, in the order of the index tensor.
// provides: put_index, put_four_indices
// requires: Outcome, Origin, index_from, pool, store_index, store_position, SAME_PLACE, CHANNELS_INSIDE
fn put_index(output: u32, result: Outcome, origin: Origin) {
  var place = output;
  if (SAME_PLACE == 0u) {
    place = store_position(output);
  }
  store_index(place - pool.store_first, index_from(output, result, origin));
}

fn put_four_indices(output: u32, a: Outcome, b: Outcome, c: Outcome, d: Outcome, origin: Origin) {
  if (CHANNELS_INSIDE == 4u && SAME_PLACE == 0u) {
    // Channels are the fastest digit of an output's number, and lie apart in the order of the indices.
    let place = store_position(output) - pool.store_first;
    let step = pool.store[0].stride.x;
    store_index(place, index_from(output, a, origin));
    store_index(place + step, index_from(output + 1u, b, origin));
    store_index(place + 2u * step, index_from(output + 2u, c, origin));
    store_index(place + 3u * step, index_from(output + 3u, d, origin));
    return;
  }
  put_index(output, a, origin);
  put_index(output + 1u, b, origin);
  put_index(output + 2u, c, origin);
  put_index(output + 3u, d, origin);
}
