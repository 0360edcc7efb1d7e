// Neighbouring outputs of an invocation as two quads.
// provides: Row, row_from, high_of, first_high_of, with_quads, combine_rows, join_rows
// requires: Quad, Elements, combine_quads, join_quads
// For each output, the maximum of the taps of its window that have been combined so far, and the element at the first
// of these taps.
struct Row {
  low: Quad,
  high: Quad,
  first_low: Elements,
  first_high: Elements,
}

fn row_from(low: Quad, high: Quad, first_low: Elements, first_high: Elements) -> Row {
  return Row(low, high, first_low, first_high);
}

fn high_of(row: Row) -> Quad {
  return row.high;
}

fn first_high_of(row: Row) -> Elements {
  return row.first_high;
}

fn with_quads(row: Row, low: Quad, high: Quad) -> Row {
  return Row(low, high, row.first_low, row.first_high);
}

// Combines two rows of maxima; `p` precedes `q`.
fn combine_rows(p: Row, q: Row) -> Row {
  return with_quads(p, combine_quads(p.low, q.low), combine_quads(p.high, q.high));
}

// Combines the maxima of two lines; `p` precedes `q`.
fn join_rows(p: Row, q: Row) -> Row {
  return with_quads(p, join_quads(p.low, q.low), join_quads(p.high, q.high));
}
