// Eight neighbouring outputs as two quads instead of an array: drivers keep arrays in memory. A quad is four neighbours
// along the last axis, or four channels of one column.
// provides: Quad, Row, combine_quads, combine_rows, join_rows, lifted, elements_in
// requires: Acc, Elements, lift_in_order, raw_of, combine, combine_anywhere, EQUALS_ALIKE, KERNEL_0, QUADS
struct Quad {
  a: Acc,
  b: Acc,
  c: Acc,
  d: Acc,
}

// For each output, the partial maximum of its window, and the window's first element in the first accumulated line.
// With one quad, `high` and `first_high` are unused.
struct Row {
  low: Quad,
  high: Quad,
  first_low: Elements,
  first_high: Elements,
}

// Four elements as accumulators, with their columns. `order` is the first one's order number, `step` the difference to
// the next.
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

// Combines two rows of maxima; `p` precedes `q`.
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

// Combines the maxima of two lines. Where windows have several depths, the maximum of a later line can be at an earlier
// position, which matters if equal elements are distinguishable.
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
