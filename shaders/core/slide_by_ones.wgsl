// Writes results of neighbouring lines one by one, where lines are not whole vectors of lanes. Each result has its own
// word.
// provides: store_values, store_value
// requires: Elements, LANES, Raw, pool, put_one
// Writes the first `lanes` values.
fn store_values(number: u32, values: Elements, lanes: u32) {
  let at = number - pool.slide.out_first;
  if (lanes > 0u) {
    put_one(at, values.a);
  }
  if (LANES > 1u && lanes > 1u) {
    put_one(at + 1u, values.b);
  }
  if (LANES > 2u && lanes > 2u) {
    put_one(at + 2u, values.c);
  }
  if (LANES > 2u && lanes > 3u) {
    put_one(at + 3u, values.d);
  }
}

// Writes the value of one lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  put_one(number + lane - pool.slide.out_first, value);
}
