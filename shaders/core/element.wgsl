// Loads the element of X at a position. The binding may begin at a later element than X.
// provides: element
// requires: Raw, load, pool
fn element(position: u32) -> Raw {
  return load(position - pool.x_first);
}
