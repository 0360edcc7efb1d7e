// One element of X, by its position.
// provides: element_of_x
// requires: Raw, load, pool
fn element_of_x(position: u32) -> Raw {
  return load(position - pool.x_first);
}
