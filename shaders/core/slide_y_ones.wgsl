// Results go to Y one by one, where lines do not come out even with vectors of them. None shares its word.
// provides: result_of, store_values, store_value
// requires: Elements, LANES, Raw, activate, pool
@group(0) @binding(2) var<storage, read_write> y: array<Raw>;

fn result_of(raw: Raw) -> Raw {
  return activate(raw);
}

// So many of them as there are.
fn store_values(number: u32, values: Elements, lanes: u32) {
  let at = number - pool.slide.out_first;
  if (lanes > 0u) {
    y[at] = values.a;
  }
  if (LANES > 1u && lanes > 1u) {
    y[at + 1u] = values.b;
  }
  if (LANES > 2u && lanes > 2u) {
    y[at + 2u] = values.c;
  }
  if (LANES > 2u && lanes > 3u) {
    y[at + 3u] = values.d;
  }
}

// The one of a lane.
fn store_value(number: u32, lane: u32, value: Raw) {
  y[number + lane - pool.slide.out_first] = value;
}
