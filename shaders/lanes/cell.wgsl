// Accumulators of neighbouring lines that an invocation reduces side by side. Members beyond LANES are unused.
// provides: Cell, join, cell_of
// requires: Acc, LANES, Elements, combine, lift_in_order
struct Cell {
  a: Acc,
  b: Acc,
  c: Acc,
  d: Acc,
}

// Combines two cells; `p` precedes `q`.
fn join(p: Cell, q: Cell) -> Cell {
  var cell = p;
  cell.a = combine(p.a, q.a);
  if (LANES > 1u) {
    cell.b = combine(p.b, q.b);
  }
  if (LANES > 2u) {
    cell.c = combine(p.c, q.c);
    cell.d = combine(p.d, q.d);
  }
  return cell;
}

fn cell_of(elements: Elements, at: u32, order: u32) -> Cell {
  return Cell(
    lift_in_order(elements.a, at, order),
    lift_in_order(elements.b, at + 1u, order),
    lift_in_order(elements.c, at + 2u, order),
    lift_in_order(elements.d, at + 3u, order),
  );
}
