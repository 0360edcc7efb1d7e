// The first of several passes tells the last one whether it has met a window that begins with a NaN.
// provides: conclude
// requires: Walk, has_met, mask, pool
fn conclude(walk: Walk) {
  if (has_met()) {
    atomicStore(&mask[pool.slide.flag], 1u);
  }
}
