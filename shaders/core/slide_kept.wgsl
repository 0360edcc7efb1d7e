// Later passes of sliding maxima read the maxima of the previous pass.
// provides: fetch
// requires: Cell, LANES, Vector, cell_of, elements_of, pool
@group(0) @binding(12) var<storage, read> kept: array<Vector>;

fn fetch(at: u32, order: u32) -> Cell {
  return cell_of(elements_of(kept[(at - pool.in_first) / LANES]), at, order);
}
