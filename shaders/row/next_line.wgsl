// Adds the line of X that enters with the next line of outputs: the last line of its windows.
// provides: with_next_lines
// requires: Kept, kept_with, Place, line_windows, KERNEL_1, DILATION_1
fn with_next_lines(kept: Kept, place: Place, top: i32, first: u32) -> Kept {
  let line = first + KERNEL_1 - 1u;
  return kept_with(kept, line_windows(place, top + i32(line * DILATION_1), line));
}
