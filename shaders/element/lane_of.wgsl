// One of four neighbouring elements.
// provides: lane_of
// requires: Elements, Raw
fn lane_of(quad: Elements, at: u32) -> Raw {
  return select(select(quad.c, quad.d, at == 3u), select(quad.a, quad.b, at == 1u), at < 2u);
}
