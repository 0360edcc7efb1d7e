// The row maxima of lines of X that a thread tile keeps in registers: those of KERNEL_1 lines, the latest first.
// `with_line` adds the line that is `tap` taps below the first line of the tile's first window, and drops the oldest.
// `first_lines` are the first lines of the tile's first windows: all but the LINES_BETWEEN lines that `with_next_lines`
// adds, the last ones of the windows that begin at tap `first`. `best_of` are the maxima of whole windows: the column
// maxima of the kept lines.
// provides: Kept, first_lines, with_next_lines, best_of
// requires: Place, LineMaxima, line_windows, join_maxima, KERNEL_1, DILATION_1, LINES_BETWEEN

//// kept_three: For windows of two or three lines. There is no loop over lines: compilers would unroll it, and one of
// them (FXC) takes seconds for that.
struct Kept {
  latest: LineMaxima,
  back_1: LineMaxima,
  back_2: LineMaxima,
}

fn with_line(kept: Kept, place: Place, top: i32, tap: u32) -> Kept {
  var next: Kept;
  if (KERNEL_1 > 2u) {
    next.back_2 = kept.back_1;
  }
  next.back_1 = kept.latest;
  next.latest = line_windows(place, top + i32(tap * DILATION_1), tap);
  return next;
}

fn first_lines(place: Place, top: i32) -> Kept {
  var kept: Kept;
  kept.latest = line_windows(place, top, 0u);
  if (KERNEL_1 - LINES_BETWEEN > 1u) {
    kept = with_line(kept, place, top, 1u);
  }
  return kept;
}

fn with_next_lines(kept: Kept, place: Place, top: i32, first: u32) -> Kept {
  var next = kept;
  if (LINES_BETWEEN > 1u) {
    next = with_line(next, place, top, first + 1u);
  }
  return with_line(next, place, top, first + KERNEL_1 - 1u);
}

fn best_of(kept: Kept) -> LineMaxima {
  var best = kept.back_1;
  if (KERNEL_1 > 2u) {
    best = join_maxima(kept.back_2, kept.back_1);
  }
  return join_maxima(best, kept.latest);
}

//// kept_seven: For windows of four to seven lines.
struct Kept {
  latest: LineMaxima,
  back_1: LineMaxima,
  back_2: LineMaxima,
  back_3: LineMaxima,
  back_4: LineMaxima,
  back_5: LineMaxima,
  back_6: LineMaxima,
}

fn with_line(kept: Kept, place: Place, top: i32, tap: u32) -> Kept {
  var next: Kept;
  if (KERNEL_1 > 6u) {
    next.back_6 = kept.back_5;
  }
  if (KERNEL_1 > 5u) {
    next.back_5 = kept.back_4;
  }
  if (KERNEL_1 > 4u) {
    next.back_4 = kept.back_3;
  }
  next.back_3 = kept.back_2;
  next.back_2 = kept.back_1;
  next.back_1 = kept.latest;
  next.latest = line_windows(place, top + i32(tap * DILATION_1), tap);
  return next;
}

fn first_lines(place: Place, top: i32) -> Kept {
  var kept: Kept;
  for (var tap = 0u; tap + LINES_BETWEEN < KERNEL_1; tap++) {
    kept = with_line(kept, place, top, tap);
  }
  return kept;
}

// The last line is added after the loop: where two lines are added, the loop then has one iteration, and drivers unroll
// it.
fn with_next_lines(kept: Kept, place: Place, top: i32, first: u32) -> Kept {
  var next = kept;
  if (LINES_BETWEEN > 1u) {
    for (var tap = KERNEL_1 - LINES_BETWEEN; tap < KERNEL_1 - 1u; tap++) {
      next = with_line(next, place, top, first + tap);
    }
  }
  return with_line(next, place, top, first + KERNEL_1 - 1u);
}

fn best_of(kept: Kept) -> LineMaxima {
  var best = join_maxima(kept.back_2, kept.back_1);
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
