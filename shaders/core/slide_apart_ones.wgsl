// Results of elements smaller than a word are kept in a word each, one by one, for `pool_pack` to put them together.
// provides: kept_out, result_of, store_values, store_value
// requires: Elements, LANES, Raw, pool
@group(0) @binding(13) var<storage, read_write> kept_out: array<Raw>;

// Activations come with the words.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

// So many of them as there are.
fn store_values(number: u32, values: Elements, lanes: u32) {
  let at = number - pool.slide.out_first;
  if (lanes > 0u) {
    kept_out[at] = values.a;
  }
  if (LANES > 1u && lanes > 1u) {
    kept_out[at + 1u] = values.b;
  }
  if (LANES > 2u && lanes > 2u) {
    kept_out[at + 2u] = values.c;
  }
  if (LANES > 2u && lanes > 3u) {
    kept_out[at + 3u] = values.d;
  }
}

// The one of a lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  kept_out[number + lane - pool.slide.out_first] = value;
}
