// An element of X by its position; the binding may begin later.
// provides: element
// requires: Raw, load, pool
fn element(position: u32) -> Raw {
  return load(position - pool.x_first);
}
