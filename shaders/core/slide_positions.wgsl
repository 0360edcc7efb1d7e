// when FIRST: In the first pass of sliding maxima, elements are numbered by their position in X.
// provides: place_of
// requires: nothing
fn place_of(at: u32) -> u32 {
  return at;
}
