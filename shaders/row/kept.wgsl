// The lines of X that a walk down lines of outputs keeps, for windows of two to seven of them.
// provides: Kept, kept_with, best_of
// requires: LineMaxima, join_maxima, KERNEL_1
// The maxima of the last lines, the latest one first.
struct Kept {
  latest: LineMaxima,
  back_1: LineMaxima,
  back_2: LineMaxima,
  back_3: LineMaxima,
  back_4: LineMaxima,
  back_5: LineMaxima,
  back_6: LineMaxima,
}

// Takes in a line; as many are kept as a window has.
fn kept_with(kept: Kept, line: LineMaxima) -> Kept {
  var next = kept;
  if (KERNEL_1 > 6u) {
    next.back_6 = kept.back_5;
  }
  if (KERNEL_1 > 5u) {
    next.back_5 = kept.back_4;
  }
  if (KERNEL_1 > 4u) {
    next.back_4 = kept.back_3;
  }
  if (KERNEL_1 > 3u) {
    next.back_3 = kept.back_2;
  }
  if (KERNEL_1 > 2u) {
    next.back_2 = kept.back_1;
  }
  next.back_1 = kept.latest;
  next.latest = line;
  return next;
}

// The maxima of whole windows.
fn best_of(kept: Kept) -> LineMaxima {
  var best = kept.back_1;
  if (KERNEL_1 > 2u) {
    best = join_maxima(kept.back_2, kept.back_1);
  }
  if (KERNEL_1 == 4u) {
    best = join_maxima(kept.back_3, best);
  }
  if (KERNEL_1 == 5u) {
    best = join_maxima(join_maxima(kept.back_4, kept.back_3), best);
  }
  if (KERNEL_1 == 6u) {
    best = join_maxima(join_maxima(kept.back_5, join_maxima(kept.back_4, kept.back_3)), best);
  }
  if (KERNEL_1 == 7u) {
    best = join_maxima(join_maxima(join_maxima(kept.back_6, kept.back_5), join_maxima(kept.back_4, kept.back_3)), best);
  }
  return join_maxima(best, kept.latest);
}
