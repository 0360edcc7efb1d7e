// The first pass of sliding maxima loads neighbours in X as vectors.
// provides: fetch, element_of_x
// requires: Cell, LANES, Raw, Vector, cell_of, elements_of, pool
@group(0) @binding(1) var<storage, read> x: array<Vector>;

fn fetch(position: u32, order: u32) -> Cell {
  return cell_of(elements_of(x[(position - pool.x_first) / LANES]), position, order);
}

fn element_of_x(position: u32) -> Raw {
  let elements = elements_of(x[(position - pool.x_first) / LANES]);
  let lane = position % LANES;
  var element = elements.a;
  if (LANES > 1u) {
    element = select(element, elements.b, lane == 1u);
  }
  if (LANES > 2u) {
    element = select(select(element, elements.c, lane == 2u), elements.d, lane == 3u);
  }
  return element;
}
