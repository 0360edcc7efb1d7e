// Results go to Y.
// provides: result_of, store_values, store_value
// requires: Elements, LANES, Raw, Vector, activate, elements_of, pool, vector_of
@group(0) @binding(2) var<storage, read_write> y: array<Vector>;

fn result_of(raw: Raw) -> Raw {
  return activate(raw);
}

// All lanes.
fn store_values(number: u32, values: Elements, lanes: u32) {
  y[(number - pool.slide.out_first) / LANES] = vector_of(values);
}

// The one of a lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  let at = (number - pool.slide.out_first) / LANES;
  var values = elements_of(y[at]);
  values.a = select(values.a, value, lane == 0u);
  values.b = select(values.b, value, lane == 1u);
  values.c = select(values.c, value, lane == 2u);
  values.d = select(values.d, value, lane == 3u);
  y[at] = vector_of(values);
}
