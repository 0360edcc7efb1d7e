// The first pass of sliding maxima reads X element by element.
// provides: fetch
// requires: Cell, Elements, cell_of, load, pool
fn fetch(position: u32, order: u32) -> Cell {
  let raw = load(position - pool.x_first);
  return cell_of(Elements(raw, raw, raw, raw), position, order);
}
