// Four neighbouring 8-bit elements: a word of Y, and of X a word or parts of two.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Lanes, X_EVEN, WHOLE
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Lanes {
  var word = x[position >> 2u];
  if (X_EVEN == 0u) {
    let shift = (position & 3u) << 3u;
    // WGSL takes shifts modulo 32, so the second word is shifted in two steps.
    word = (word >> shift) | ((x[min((position >> 2u) + 1u, last >> 2u)] << 1u) << (31u - shift));
  }
  return Lanes(word & 0xffu, (word >> 8u) & 0xffu, (word >> 16u) & 0xffu, word >> 24u);
}

// One element.
fn load_lane(position: u32) -> Raw {
  return (x[position >> 2u] >> ((position & 3u) << 3u)) & 0xffu;
}

// Stores the word of four elements at a position at which a word begins, unless no element of the row is left. In a row
// of whole quads it is always stored.
fn store_lanes(position: u32, quad: Lanes, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 2u] = quad.a | (quad.b << 8u) | (quad.c << 16u) | (quad.d << 24u);
  }
}
