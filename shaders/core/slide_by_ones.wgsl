// Results of neighbouring lines are written one by one, where lines do not come out even with vectors of lanes. None shares its
// word.
// provides: store_values, store_value
// requires: Elements, LANES, Raw, pool, put_one
// So many of them as there are.
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

// The one of a lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  put_one(number + lane - pool.slide.out_first, value);
}
