// Four neighbouring 32-bit elements at once: rows come out even with them.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Lanes, WHOLE
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// From a position on, in an X of which `last` is the last element.
fn load_lanes(position: u32, last: u32) -> Lanes {
  let four = x[position >> 2u];
  return Lanes(four.x, four.y, four.z, four.w);
}

// One element.
fn load_lane(position: u32) -> Raw {
  return x[position >> 2u][position & 3u];
}

// To a position, if `left` elements are left of a row; of a row of whole quads they always are.
fn store_lanes(position: u32, quad: Lanes, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 2u] = vec4<u32>(quad.a, quad.b, quad.c, quad.d);
  }
}
