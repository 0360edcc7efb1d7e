// Writes results of neighbouring lines.
// provides: Stored, store_values, store_value
// requires: Elements, LANES, Raw, pool, put_stored

//// slide_by_vectors when !PARTIAL: Writes results of neighbouring lines as vectors, where lines are whole vectors of
// lanes.
// requires: Vector, elements_of, stored_at, vector_of
alias Stored = Vector;

// Writes the values of all lanes.
fn store_values(number: u32, values: Elements, lanes: u32) {
  put_stored((number - pool.slide.out_first) / LANES, vector_of(values));
}

// Replaces the value of one lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  let at = (number - pool.slide.out_first) / LANES;
  var values = elements_of(stored_at(at));
  values.a = select(values.a, value, lane == 0u);
  values.b = select(values.b, value, lane == 1u);
  values.c = select(values.c, value, lane == 2u);
  values.d = select(values.d, value, lane == 3u);
  put_stored(at, vector_of(values));
}

//// slide_by_ones when PARTIAL: Writes results of neighbouring lines one by one, where lines are not whole vectors of
// lanes. Each result has its own word.
alias Stored = Raw;

// Writes the first `lanes` values.
fn store_values(number: u32, values: Elements, lanes: u32) {
  let at = number - pool.slide.out_first;
  if (lanes > 0u) {
    put_stored(at, values.a);
  }
  if (LANES > 1u && lanes > 1u) {
    put_stored(at + 1u, values.b);
  }
  if (LANES > 2u && lanes > 2u) {
    put_stored(at + 2u, values.c);
  }
  if (LANES > 2u && lanes > 3u) {
    put_stored(at + 3u, values.d);
  }
}

// Writes the value of one lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  put_stored(number + lane - pool.slide.out_first, value);
}
