// Results of elements smaller than a word are kept in a word each, for `pool_pack` to put them together.
// provides: kept_out, result_of, store_values, values_at
// requires: Elements, LANES, Raw, Vector, elements_of, pool, vector_of
@group(0) @binding(13) var<storage, read_write> kept_out: array<Vector>;

// Activations come with the words.
fn result_of(raw: Raw) -> Raw {
  return raw;
}

fn store_values(number: u32, values: Elements) {
  kept_out[(number - pool.slide.out_first) / LANES] = vector_of(values);
}

fn values_at(number: u32) -> Elements {
  return elements_of(kept_out[(number - pool.slide.out_first) / LANES]);
}
