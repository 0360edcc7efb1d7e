// The maxima of neighbouring windows in one line of X, where the dilation is a multiple of the stride. From one tap to
// the next, the elements move to lanes of earlier outputs, so that each element is loaded once.
//
//   elements              0 1 2 3 4 5 6 7     KERNEL_2 = 3, DILATION_2 = 2, STRIDE_2 = 1
//   taps of output 0      0 . 1 . 2
//   taps of output 1        0 . 1 . 2
//   lanes at tap 1            [. . . .]       two slides further than at tap 0
// provides: row_windows
// requires: Row, Acc, combine_rows, slide_lanes, line_elements, SLIDES, DILATION_2, STRIDE_2
struct Slid {
  best: Row,
  lanes: Row,
}

// Slide `number`: moves the element of each lane to the lane before it, with `next` in the last lane. If the lanes then
// hold a tap of the windows, they are accumulated.
fn slide(slid: Slid, next: Acc, number: u32) -> Slid {
  let further = slide_lanes(slid.lanes, next);
  var best = slid.best;
  if (number % (DILATION_2 / STRIDE_2) == 0u) {
    best = combine_rows(best, further);
  }
  return Slid(best, further);
}

fn row_windows(line: u32, column: i32, order: u32) -> Row {
  let elements = line_elements(line, column, order);
  var slid = Slid(elements.lanes, elements.lanes);
  if (SLIDES > 0u) {
    slid = slide(slid, elements.next.a, 1u);
  }
  if (SLIDES > 1u) {
    slid = slide(slid, elements.next.b, 2u);
  }
  if (SLIDES > 2u) {
    slid = slide(slid, elements.next.c, 3u);
  }
  if (SLIDES > 3u) {
    slid = slide(slid, elements.next.d, 4u);
  }
  if (SLIDES > 4u) {
    slid = slide(slid, elements.next_4.a, 5u);
  }
  if (SLIDES > 5u) {
    slid = slide(slid, elements.next_4.b, 6u);
  }
  if (SLIDES > 6u) {
    slid = slide(slid, elements.next_4.c, 7u);
  }
  if (SLIDES > 7u) {
    slid = slide(slid, elements.next_4.d, 8u);
  }
  return slid.best;
}
