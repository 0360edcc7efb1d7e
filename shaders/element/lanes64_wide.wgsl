// Four neighbouring 64-bit elements, two to a vector: rows are multiples of four.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Lanes, WHOLE
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// Loads four elements from a position on; `last` is the last element of X.
fn load_lanes(position: u32, last: u32) -> Lanes {
  let pair = (position >> 2u) << 1u;
  let low = x[pair];
  let high = x[pair + 1u];
  return Lanes(low.xy, low.zw, high.xy, high.zw);
}

// One element.
fn load_lane(position: u32) -> Raw {
  let pair = x[position >> 1u];
  return select(pair.xy, pair.zw, (position & 1u) == 1u);
}

// Stores four elements at a position, unless no element of the row is left. In a row of whole quads they are always
// stored.
fn store_lanes(position: u32, quad: Lanes, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 1u] = vec4<u32>(quad.a, quad.b);
    y[(position >> 1u) + 1u] = vec4<u32>(quad.c, quad.d);
  }
}
