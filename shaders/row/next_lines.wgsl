// Adds the lines of X that enter with the next line of outputs. The last line is outside the loop: where there are two
// lines, drivers then unroll the loop over the single other one.
// provides: with_next_lines
// requires: Kept, kept_with, Place, line_windows, KERNEL_1, DILATION_1, LINES_BETWEEN
fn with_next_lines(kept: Kept, place: Place, top: i32, first: u32) -> Kept {
  var next = kept;
  let last = first + KERNEL_1 - 1u;
  for (var line = KERNEL_1 - LINES_BETWEEN; line < KERNEL_1 - 1u; line++) {
    next = kept_with(next, line_windows(place, top + i32((first + line) * DILATION_1), first + line));
  }
  return kept_with(next, line_windows(place, top + i32(last * DILATION_1), last));
}
