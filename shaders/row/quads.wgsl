// Eight neighbouring outputs as two quads, so that none is an element of an array: drivers keep arrays in memory. A quad is four
// neighbours along the last axis, or four channels of one place.
// provides: Quad, Row, combine_quads, combine_rows, join_rows, lifted, elements_in
// requires: Acc, Elements, lift_in_order, raw_of, combine, combine_anywhere, EQUALS_ALIKE, KERNEL_0, QUADS
struct Quad {
  a: Acc,
  b: Acc,
  c: Acc,
  d: Acc,
}

// Of each output, the maximum of what has been seen of its window, and the window's first element in the first line seen.
// Without a second quad its members stay unused.
struct Row {
  low: Quad,
  high: Quad,
  first_low: Elements,
  first_high: Elements,
}

// Four elements as accumulators, with their columns, and what each adds to the order of those before.
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

// Of two rows of maxima the first of which stands before the second.
fn combine_rows(p: Row, q: Row) -> Row {
  var row = p;
  row.low = combine_quads(p.low, q.low);
  if (QUADS > 1u) {
    row.high = combine_quads(p.high, q.high);
  }
  return row;
}

fn join_quads(p: Quad, q: Quad) -> Quad {
  return Quad(combine_anywhere(p.a, q.a), combine_anywhere(p.b, q.b), combine_anywhere(p.c, q.c), combine_anywhere(p.d, q.d));
}

// Of two lines' maxima. Where windows are deep, a line behind another one can have elements that stand before its own, which
// matters if equals can be told apart.
fn join_rows(p: Row, q: Row) -> Row {
  var row = combine_rows(p, q);
  if (KERNEL_0 > 1u && EQUALS_ALIKE == 0u) {
    row.low = join_quads(p.low, q.low);
    if (QUADS > 1u) {
      row.high = join_quads(p.high, q.high);
    }
  }
  return row;
}
