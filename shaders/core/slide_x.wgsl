// The first pass of sliding maxima reads X; an element's place is its position.
// provides: fetch, place_of
// requires: Acc, lift, load, pool
fn fetch(position: u32) -> Acc {
  return lift(load(position - pool.x_first), position);
}

fn place_of(at: u32) -> u32 {
  return at;
}
