// Four neighbouring outputs as a structure instead of an array, because drivers keep arrays in memory. A quad is four
// neighbours along the last axis, or four channels of one column.
// provides: Quad, combine_quads, join_quads, lifted, elements_in
// requires: Acc, Elements, lift_in_order, raw_of, combine, combine_anywhere, KERNEL_0, EQUALS_ALIKE
struct Quad {
  a: Acc,
  b: Acc,
  c: Acc,
  d: Acc,
}

// Four elements as accumulators, with their columns. `order` is the order number of the first element, `step` the
// difference from one order number to the next.
fn lifted(raws: Elements, columns: vec4<u32>, order: u32, step: u32) -> Quad {
  return Quad(
    lift_in_order(raws.a, columns.x, order),
    lift_in_order(raws.b, columns.y, order + step),
    lift_in_order(raws.c, columns.z, order + 2u * step),
    lift_in_order(raws.d, columns.w, order + 3u * step),
  );
}

fn elements_in(quad: Quad) -> Elements {
  return Elements(raw_of(quad.a), raw_of(quad.b), raw_of(quad.c), raw_of(quad.d));
}

fn combine_quads(p: Quad, q: Quad) -> Quad {
  return Quad(combine(p.a, q.a), combine(p.b, q.b), combine(p.c, q.c), combine(p.d, q.d));
}

// Combines the maxima of two lines; `p` precedes `q`. Where windows have several depths, the maximum of a later line can
// lie at an earlier position. The positions are therefore compared, unless equal elements give the same result.
fn join_quads(p: Quad, q: Quad) -> Quad {
  var best: Quad;
  if (KERNEL_0 > 1u && EQUALS_ALIKE == 0u) {
    best = Quad(combine_anywhere(p.a, q.a), combine_anywhere(p.b, q.b), combine_anywhere(p.c, q.c), combine_anywhere(p.d, q.d));
  } else {
    best = combine_quads(p, q);
  }
  return best;
}
