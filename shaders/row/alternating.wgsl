// The maxima of neighbouring windows in one line of X, where windows step by two elements: even taps and odd taps each slide
// as neighbouring windows do, so that each element is loaded once.
//
//   elements              0 1 2 3 4 5 6 7 8    KERNEL_2 = 3
//   even elements         [0   2   4   6] 8    taps 0 and, one slide further, 2
//   odd elements            [1   3   5   7]    tap 1
// provides: row_windows
// requires: Quad, Row, Acc, combine_rows, lanes_at, behind, KERNEL_2, QUADS
fn slide(lanes: Row, next: Acc) -> Row {
  var slid = lanes;
  if (QUADS > 1u) {
    slid.low = Quad(lanes.low.b, lanes.low.c, lanes.low.d, lanes.high.a);
    slid.high = Quad(lanes.high.b, lanes.high.c, lanes.high.d, next);
  } else {
    slid.low = Quad(lanes.low.b, lanes.low.c, lanes.low.d, next);
  }
  return slid;
}

fn row_windows(line: u32, column: i32) -> Row {
  var even = lanes_at(line, column);
  var best = even;
  if (KERNEL_2 > 1u) {
    var odd = lanes_at(line, column + 1);
    best = combine_rows(best, odd);
    if (KERNEL_2 > 2u) {
      // The elements behind the lanes, two of which lie between two of the same kind.
      let next = behind(line, column, 0);
      let odd_next = behind(line, column + 1, 0);
      even = slide(even, next.a);
      best = combine_rows(best, even);
      if (KERNEL_2 > 3u) {
        odd = slide(odd, odd_next.a);
        best = combine_rows(best, odd);
      }
      if (KERNEL_2 > 4u) {
        even = slide(even, next.b);
        best = combine_rows(best, even);
      }
      if (KERNEL_2 > 5u) {
        odd = slide(odd, odd_next.b);
        best = combine_rows(best, odd);
      }
      if (KERNEL_2 > 6u) {
        even = slide(even, next.c);
        best = combine_rows(best, even);
      }
      if (KERNEL_2 > 7u) {
        odd = slide(odd, odd_next.c);
        best = combine_rows(best, odd);
      }
    }
  }
  return best;
}
