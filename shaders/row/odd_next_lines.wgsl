// As row/next_lines.wgsl, in rows that do not come out even with words.
// provides: with_next_lines
// requires: Kept, kept_with, OddPlace, look_at, KERNEL_1, STRIDE_1
fn with_next_lines(kept: Kept, place: OddPlace, top: i32, first: u32) -> Kept {
  var next = kept;
  let last = first + KERNEL_1 - 1u;
  for (var line = KERNEL_1 - STRIDE_1; line < KERNEL_1 - 1u; line++) {
    next = kept_with(next, look_at(place, top + i32(first + line), first + line));
  }
  return kept_with(next, look_at(place, top + i32(last), last));
}
