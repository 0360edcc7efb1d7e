// The row maxima of lines of X that a thread tile keeps in registers: those of KERNEL_1 lines, the latest first.
// `with_line` adds the line that is `tap` taps below the first line of the tile's first window, and drops the oldest.
// `first_lines` are the first lines of the tile's first windows: all but the LINES_BETWEEN lines that `with_next_lines`
// adds, the last ones of the windows that begin at tap `first`. `best_of` are the maxima of whole windows: the column
// maxima of the kept lines. Lines of windows of up to three are written out: compilers unroll a loop over them, and one
// of them (FXC) takes seconds for that.
// provides: Kept, first_lines, with_next_lines, best_of
// requires: Place, LineMaxima, line_windows, join_maxima, KERNEL_1, DILATION_1, LINES_BETWEEN
alias Kept = array<LineMaxima, KERNEL_1>;

fn with_line(kept: Kept, place: Place, top: i32, tap: u32) -> Kept {
  var next: Kept;
  for (var back = 1u; back < KERNEL_1; back++) { // unrolled
    next[back] = kept[back - 1u];
  }
  next[0] = line_windows(place, top + i32(tap * DILATION_1), tap);
  return next;
}

fn first_lines(place: Place, top: i32) -> Kept {
  var kept: Kept;
  if (KERNEL_1 > 3u) {
    for (var tap = 0u; tap < KERNEL_1 - LINES_BETWEEN; tap++) {
      kept = with_line(kept, place, top, tap);
    }
  } else {
    for (var tap = 0u; tap < KERNEL_1 - LINES_BETWEEN; tap++) { // unrolled
      kept = with_line(kept, place, top, tap);
    }
  }
  return kept;
}

// The last line is added after the loop: where two lines are added, the loop then has one iteration, and drivers unroll
// it.
fn with_next_lines(kept: Kept, place: Place, top: i32, first: u32) -> Kept {
  var next = kept;
  if (KERNEL_1 > 3u && LINES_BETWEEN > 1u) {
    for (var tap = KERNEL_1 - LINES_BETWEEN; tap < KERNEL_1 - 1u; tap++) {
      next = with_line(next, place, top, first + tap);
    }
  } else if (LINES_BETWEEN > 1u) {
    next = with_line(next, place, top, first + 1u);
  }
  return with_line(next, place, top, first + KERNEL_1 - 1u);
}

fn best_of(kept: Kept) -> LineMaxima {
  var best = kept[KERNEL_1 - 1u];
  for (var line = 1u; line < KERNEL_1; line++) { // unrolled
    best = join_maxima(best, kept[KERNEL_1 - 1u - line]);
  }
  return best;
}
