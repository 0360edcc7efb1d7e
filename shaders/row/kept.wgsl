// The row maxima of lines of X that a walk keeps in registers, for windows of two to seven lines.
// provides: Kept, kept_with, best_of
// requires: LineMaxima, join_maxima, KERNEL_1
// The row maxima of the last lines, the latest first.
struct Kept {
  latest: LineMaxima,
  back_1: LineMaxima,
  back_2: LineMaxima,
  back_3: LineMaxima,
  back_4: LineMaxima,
  back_5: LineMaxima,
  back_6: LineMaxima,
}

// Adds the latest line and drops the oldest; KERNEL_1 lines are kept.
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

// The maxima of whole windows: the column maxima of the kept lines.
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
