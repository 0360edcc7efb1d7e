// Visiting the elements of X.
// provides: visit
// requires: Candidate, consider, see, element, lift
fn visit(candidate: ptr<function, Candidate>, position: u32) {
  see(candidate, position);
  consider(candidate, lift(element(position), position));
}
