// The first of several passes sets the group's flag if it has met a window that begins with a NaN.
// provides: conclude
// requires: Walk, has_met, flags, pool
fn conclude(walk: Walk) {
  if (has_met()) {
    atomicStore(&flags[pool.slide.flag], 1u);
  }
}
