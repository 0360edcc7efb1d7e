// The winner of a window that is looked at now.
// provides: winner
// requires: Candidate, Raw, ZERO, element, scan, settle
fn winner(output: u32, candidate: ptr<function, Candidate>) -> Raw {
  *candidate = scan(output);
  settle(candidate);
  var raw = ZERO;
  if ((*candidate).found) {
    raw = element((*candidate).best);
  }
  return raw;
}
