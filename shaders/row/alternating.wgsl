// The maxima of neighbouring windows in one line of X, for windows of stride 2. Even taps and odd taps each slide like
// windows of stride 1, so that each element is loaded once.
//
//   elements              0 1 2 3 4 5 6 7 8    KERNEL_2 = 3
//   even elements         [0   2   4   6] 8    taps 0 and, one slide further, 2
//   odd elements            [1   3   5   7]    tap 1
// provides: row_windows
// requires: Quad, Row, Acc, combine_rows, alternating_elements, KERNEL_2, QUADS
fn slide(lanes: Row, next: Acc) -> Row {
  var further = lanes;
  if (QUADS > 1u) {
    further.low = Quad(lanes.low.b, lanes.low.c, lanes.low.d, lanes.high.a);
    further.high = Quad(lanes.high.b, lanes.high.c, lanes.high.d, next);
  } else {
    further.low = Quad(lanes.low.b, lanes.low.c, lanes.low.d, next);
  }
  return further;
}

fn row_windows(line: u32, column: i32, order: u32) -> Row {
  let elements = alternating_elements(line, column, order);
  var even = elements.even;
  var odd = elements.odd;
  var best = even;
  if (KERNEL_2 > 1u) {
    best = combine_rows(best, odd);
  }
  if (KERNEL_2 > 2u) {
    even = slide(even, elements.next_even.a);
    best = combine_rows(best, even);
  }
  if (KERNEL_2 > 3u) {
    odd = slide(odd, elements.next_odd.a);
    best = combine_rows(best, odd);
  }
  if (KERNEL_2 > 4u) {
    even = slide(even, elements.next_even.b);
    best = combine_rows(best, even);
  }
  if (KERNEL_2 > 5u) {
    odd = slide(odd, elements.next_odd.b);
    best = combine_rows(best, odd);
  }
  if (KERNEL_2 > 6u) {
    even = slide(even, elements.next_even.c);
    best = combine_rows(best, even);
  }
  if (KERNEL_2 > 7u) {
    odd = slide(odd, elements.next_odd.c);
    best = combine_rows(best, odd);
  }
  return best;
}
