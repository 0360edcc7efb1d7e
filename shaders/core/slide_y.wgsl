// Results go to Y.
// provides: result_of, store_values, values_at
// requires: Elements, LANES, Raw, Vector, activate, elements_of, pool, vector_of
@group(0) @binding(2) var<storage, read_write> y: array<Vector>;

fn result_of(raw: Raw) -> Raw {
  return activate(raw);
}

fn store_values(number: u32, values: Elements) {
  y[(number - pool.slide.out_first) / LANES] = vector_of(values);
}

fn values_at(number: u32) -> Elements {
  return elements_of(y[(number - pool.slide.out_first) / LANES]);
}
