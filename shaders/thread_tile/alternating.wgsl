// The maxima of neighbouring windows in one line of X, for windows of stride 2. Even taps and odd taps each slide like
// windows of stride 1, so that each element is loaded once.
//
//   elements              0 1 2 3 4 5 6 7 8    KERNEL_2 = 3
//   even elements         [0   2   4   6] 8    taps 0 and, one slide further, 2
//   odd elements            [1   3   5   7]    tap 1
// provides: row_windows
// requires: Row, combine_rows, slide_lanes, alternating_elements, KERNEL_2
fn row_windows(line: u32, column: i32, order: u32) -> Row {
  let elements = alternating_elements(line, column, order);
  var even = elements.even;
  var odd = elements.odd;
  var best = even;
  if (KERNEL_2 > 1u) {
    best = combine_rows(best, odd);
  }
  if (KERNEL_2 > 2u) {
    even = slide_lanes(even, elements.next_even.a);
    best = combine_rows(best, even);
  }
  if (KERNEL_2 > 3u) {
    odd = slide_lanes(odd, elements.next_odd.a);
    best = combine_rows(best, odd);
  }
  if (KERNEL_2 > 4u) {
    even = slide_lanes(even, elements.next_even.b);
    best = combine_rows(best, even);
  }
  if (KERNEL_2 > 5u) {
    odd = slide_lanes(odd, elements.next_odd.b);
    best = combine_rows(best, odd);
  }
  if (KERNEL_2 > 6u) {
    even = slide_lanes(even, elements.next_even.c);
    best = combine_rows(best, even);
  }
  if (KERNEL_2 > 7u) {
    odd = slide_lanes(odd, elements.next_odd.c);
    best = combine_rows(best, odd);
  }
  return best;
}
