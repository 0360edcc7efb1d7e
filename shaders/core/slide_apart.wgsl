// Results of elements smaller than a word are kept in a word each, for `pool_pack` to put them together.
// provides: kept_out, result_of, store_values, store_value
// requires: Elements, LANES, Raw, Vector, elements_of, pool, vector_of
@group(0) @binding(13) var<storage, read_write> kept_out: array<Vector>;

// Activations come with the words.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

// All lanes.
fn store_values(number: u32, values: Elements, lanes: u32) {
  kept_out[(number - pool.slide.out_first) / LANES] = vector_of(values);
}

// The one of a lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  let at = (number - pool.slide.out_first) / LANES;
  var values = elements_of(kept_out[at]);
  values.a = select(values.a, value, lane == 0u);
  values.b = select(values.b, value, lane == 1u);
  values.c = select(values.c, value, lane == 2u);
  values.d = select(values.d, value, lane == 3u);
  kept_out[at] = vector_of(values);
}
