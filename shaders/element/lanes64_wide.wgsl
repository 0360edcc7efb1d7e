// Four neighbouring 64-bit elements, two at once: rows come out even with them.
// provides: x, y, load_lanes, load_lane, store_lanes
// requires: Raw, Lanes, WHOLE
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<u32>>;

// From a position on, in an X of which `last` is the last element.
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

// To a position, if `left` elements are left of a row; of a row of whole quads they always are.
fn store_lanes(position: u32, quad: Lanes, left: i32) {
  if (WHOLE == 1u || left > 0) {
    y[position >> 1u] = vec4<u32>(quad.a, quad.b);
    y[(position >> 1u) + 1u] = vec4<u32>(quad.c, quad.d);
  }
}
