// The first pass of sliding maxima loads neighbours in X one by one, where lines are not whole vectors. Lanes beyond a
// line's end compute outputs that do not exist.
// provides: fetch
// requires: Cell, Elements, LANES, cell_of, load, pool
fn fetch(position: u32, order: u32) -> Cell {
  let at = position - pool.x_first;
  let first = load(at);
  var elements = Elements(first, first, first, first);
  if (LANES > 1u) {
    elements.b = load(at + 1u);
  }
  if (LANES > 2u) {
    elements.c = load(at + 2u);
    elements.d = load(at + 3u);
  }
  return cell_of(elements, position, order);
}
