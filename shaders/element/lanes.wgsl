// Four neighbouring elements.
// provides: Lanes, lane_of
// requires: Raw
struct Lanes {
  a: Raw,
  b: Raw,
  c: Raw,
  d: Raw,
}

fn lane_of(quad: Lanes, at: u32) -> Raw {
  return select(select(quad.c, quad.d, at == 3u), select(quad.a, quad.b, at == 1u), at < 2u);
}
