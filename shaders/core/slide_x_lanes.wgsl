// The first pass of sliding maxima reads neighbours in X at once.
// provides: fetch
// requires: Cell, LANES, Vector, cell_of, elements_of, pool
@group(0) @binding(1) var<storage, read> x: array<Vector>;

fn fetch(position: u32, order: u32) -> Cell {
  return cell_of(elements_of(x[(position - pool.x_first) / LANES]), position, order);
}
