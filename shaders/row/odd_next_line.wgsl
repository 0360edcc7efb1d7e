// As row/next_line.wgsl, in rows that do not come out even with words.
// provides: with_next_lines
// requires: Kept, kept_with, OddPlace, look_at, KERNEL_1
fn with_next_lines(kept: Kept, place: OddPlace, top: i32, first: u32) -> Kept {
  let line = first + KERNEL_1 - 1u;
  return kept_with(kept, look_at(place, top + i32(line), line));
}
