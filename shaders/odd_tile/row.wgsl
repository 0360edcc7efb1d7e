// Neighbouring outputs of an invocation: for each output, the maximum of the taps of its window that have been combined
// so far, and the element at the first of these taps. `combine_rows` combines two rows of maxima, `join_rows` those of
// two lines; `p` precedes `q`.
// provides: Row, row_from, high_of, first_high_of, with_quads, combine_rows, join_rows
// requires: Quad, Elements, combine_quads, join_quads

//// row_of_one: One quad. The second quad of `row_of_two` is left out, because compilers take longer for structures
// with unused fields.
struct Row {
  low: Quad,
  first_low: Elements,
}

fn row_from(low: Quad, high: Quad, first_low: Elements, first_high: Elements) -> Row {
  return Row(low, first_low);
}

// The last quad of the row, which is its only one.
fn high_of(row: Row) -> Quad {
  return row.low;
}

fn first_high_of(row: Row) -> Elements {
  return row.first_low;
}

fn with_quads(row: Row, low: Quad, high: Quad) -> Row {
  return Row(low, row.first_low);
}

fn combine_rows(p: Row, q: Row) -> Row {
  return Row(combine_quads(p.low, q.low), p.first_low);
}

fn join_rows(p: Row, q: Row) -> Row {
  return Row(join_quads(p.low, q.low), p.first_low);
}

//// row_of_two: Two quads.
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

fn combine_rows(p: Row, q: Row) -> Row {
  return with_quads(p, combine_quads(p.low, q.low), combine_quads(p.high, q.high));
}

fn join_rows(p: Row, q: Row) -> Row {
  return with_quads(p, join_quads(p.low, q.low), join_quads(p.high, q.high));
}
