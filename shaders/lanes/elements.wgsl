// Neighbouring elements; members beyond LANES are unused.
// provides: Elements, lane_of
// requires: Raw
struct Elements {
  a: Raw,
  b: Raw,
  c: Raw,
  d: Raw,
}

// One of the four.
fn lane_of(quad: Elements, at: u32) -> Raw {
  return select(select(quad.c, quad.d, at == 3u), select(quad.a, quad.b, at == 1u), at < 2u);
}
