// Four neighbouring 16-bit elements: two words of Y, and of X two words or parts of three.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Lanes, X_EVEN, WHOLE
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Lanes {
  let word = position >> 1u;
  let low = x[word];
  let high = x[min(word + 1u, last >> 1u)];
  var lanes = Lanes(low & 0xffffu, low >> 16u, high & 0xffffu, high >> 16u);
  if (X_EVEN == 0u && (position & 1u) == 1u) {
    lanes = Lanes(lanes.b, lanes.c, lanes.d, x[min(word + 2u, last >> 1u)] & 0xffffu);
  }
  return lanes;
}

// One element.
fn load_lane(position: u32) -> Raw {
  return (x[position >> 1u] >> ((position & 1u) << 4u)) & 0xffffu;
}

// Stores up to `left` of the four elements at a position at which a word begins. The row is whole words; in a row of
// whole quads all four are stored.
fn store_lanes(position: u32, quad: Lanes, left: i32) {
  let word = position >> 1u;
  if (WHOLE == 1u || left > 0) {
    y[word] = quad.a | (quad.b << 16u);
  }
  if (WHOLE == 1u || left > 2) {
    y[word + 1u] = quad.c | (quad.d << 16u);
  }
}
