// Writes results of neighbouring lines as vectors, where lines are whole vectors of lanes.
// provides: store_values, store_value
// requires: Elements, LANES, Raw, elements_of, pool, put_vector, vector_at, vector_of
// Writes the values of all lanes.
fn store_values(number: u32, values: Elements, lanes: u32) {
  put_vector((number - pool.slide.out_first) / LANES, vector_of(values));
}

// Replaces the value of one lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  let at = (number - pool.slide.out_first) / LANES;
  var values = elements_of(vector_at(at));
  values.a = select(values.a, value, lane == 0u);
  values.b = select(values.b, value, lane == 1u);
  values.c = select(values.c, value, lane == 2u);
  values.d = select(values.d, value, lane == 3u);
  put_vector(at, vector_of(values));
}
