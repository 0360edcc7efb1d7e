// Four neighbouring 32-bit elements, loaded one by one from any position.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Lanes, WHOLE
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Lanes {
  return Lanes(x[position], x[min(position + 1u, last)], x[min(position + 2u, last)], x[min(position + 3u, last)]);
}

// One element.
fn load_lane(position: u32) -> Raw {
  return x[position];
}

// Stores up to `left` of the four elements at a position. In a row of whole quads all four are stored.
fn store_lanes(position: u32, quad: Lanes, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position] = quad.a;
  }
  if (WHOLE == 1u || left > 1) {
    y[position + 1u] = quad.b;
  }
  if (WHOLE == 1u || left > 2) {
    y[position + 2u] = quad.c;
  }
  if (WHOLE == 1u || left > 3) {
    y[position + 3u] = quad.d;
  }
}
