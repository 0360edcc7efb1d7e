// Four neighbouring 32-bit elements as one vector: rows are multiples of four.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Lanes, WHOLE
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Lanes {
  let four = x[position >> 2u];
  return Lanes(four.x, four.y, four.z, four.w);
}

// One element.
fn load_lane(position: u32) -> Raw {
  return x[position >> 2u][position & 3u];
}

// Stores four elements at a position, unless no element of the row is left. In a row of whole quads they are always
// stored.
fn store_lanes(position: u32, quad: Lanes, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 2u] = vec4<u32>(quad.a, quad.b, quad.c, quad.d);
  }
}
