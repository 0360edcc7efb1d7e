// What a pass of sliding maxima reads.
// provides: fetch
// requires: Cell, LANES, cell_of, pool

//// slide_x_lanes when X_LANES: The first pass of sliding maxima loads neighbours in X as vectors.
// provides: element
// requires: Raw, Vector, elements_of
@group(0) @binding(1) var<storage, read> x: array<Vector>;

fn fetch(position: u32, order: u32) -> Cell {
  return cell_of(elements_of(x[(position - pool.x_first) / LANES]), position, order);
}

fn element(position: u32) -> Raw {
  let elements = elements_of(x[(position - pool.x_first) / LANES]);
  let lane = position % LANES;
  var found = elements.a;
  if (LANES > 1u) {
    found = select(found, elements.b, lane == 1u);
  }
  if (LANES > 2u) {
    found = select(select(found, elements.c, lane == 2u), elements.d, lane == 3u);
  }
  return found;
}

//// slide_x_ones: The first pass of sliding maxima loads neighbours in X one by one, where lines are not whole vectors.
// Lanes beyond a line's end compute outputs that do not exist.
// requires: Elements, load
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

//// slide_kept when !FIRST: Later passes of sliding maxima read the maxima of the previous pass.
// requires: Vector, elements_of
@group(0) @binding(12) var<storage, read> kept: array<Vector>;

fn fetch(at: u32, order: u32) -> Cell {
  return cell_of(elements_of(kept[(at - pool.in_first) / LANES]), at, order);
}
