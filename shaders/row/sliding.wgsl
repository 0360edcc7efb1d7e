// The maxima of neighbouring windows in one line of X, where the distance of taps is that of windows or a multiple of it: from
// one tap to the next, each output takes over an element that its neighbour had, so that each element is loaded once.
//
//   elements              0 1 2 3 4 5 6 7     KERNEL_2 = 3, DILATION_2 = 2, STRIDE_2 = 1
//   taps of output 0      0 . 1 . 2
//   taps of output 1        0 . 1 . 2
//   lanes at tap 1            [. . . .]       two slides further than at tap 0
// provides: row_windows
// requires: Quad, Row, Acc, combine_rows, lanes_at, behind, KERNEL_2, DILATION_2, STRIDE_2, QUADS
const SLIDES_OF_A_TAP: u32 = DILATION_2 / STRIDE_2;
const SLIDES: u32 = (KERNEL_2 - 1u) * SLIDES_OF_A_TAP;

struct Slid {
  best: Row,
  lanes: Row,
}

// The lanes one element further, `next` coming in at their end. Where that is a tap, they are taken.
fn slide(window: Slid, next: Acc, number: u32) -> Slid {
  let lanes = window.lanes;
  var slid = lanes;
  if (QUADS > 1u) {
    slid.low = Quad(lanes.low.b, lanes.low.c, lanes.low.d, lanes.high.a);
    slid.high = Quad(lanes.high.b, lanes.high.c, lanes.high.d, next);
  } else {
    slid.low = Quad(lanes.low.b, lanes.low.c, lanes.low.d, next);
  }
  if (number % SLIDES_OF_A_TAP == 0u) {
    return Slid(combine_rows(window.best, slid), slid);
  }
  return Slid(window.best, slid);
}

fn row_windows(line: u32, column: i32) -> Row {
  let first = lanes_at(line, column);
  var window = Slid(first, first);
  if (SLIDES > 0u) {
    let next = behind(line, column, 0);
    window = slide(window, next.a, 1u);
    if (SLIDES > 1u) {
      window = slide(window, next.b, 2u);
    }
    if (SLIDES > 2u) {
      window = slide(window, next.c, 3u);
    }
    if (SLIDES > 3u) {
      window = slide(window, next.d, 4u);
    }
  }
  if (SLIDES > 4u) {
    let next = behind(line, column, 4);
    window = slide(window, next.a, 5u);
    if (SLIDES > 5u) {
      window = slide(window, next.b, 6u);
    }
    if (SLIDES > 6u) {
      window = slide(window, next.c, 7u);
    }
    if (SLIDES > 7u) {
      window = slide(window, next.d, 8u);
    }
  }
  return window.best;
}
