// The first of several passes: an invocation sets the group's flag if one of its windows begins with a NaN.
// provides: conclude
// requires: Run, has_met, flags, pool
fn conclude(run: Run) {
  if (has_met()) {
    atomicStore(&flags[pool.slide.flag], 1u);
  }
}
