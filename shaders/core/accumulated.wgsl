// The winner of a window that was looked at in parts.
// provides: winner
// requires: Candidate, Raw, is_nan, nan_policy, SEED_FIRST, accumulated
fn winner(output: u32, candidate: ptr<function, Candidate>) -> Raw {
  let known = accumulated(output);
  *candidate = known.candidate;
  // As `settle` does, but X is not here.
  if (nan_policy() == SEED_FIRST && (*candidate).seen && is_nan(known.first_raw)) {
    (*candidate).best = (*candidate).first;
    (*candidate).found = true;
    return known.first_raw;
  }
  return known.best_raw;
}
