// The maxima of neighbouring windows in one line of X.
// provides: row_windows
// requires: Row

//// sliding: The maxima of neighbouring windows in one line of X, where the dilation is a multiple of the stride. From
// one tap to the next, the elements move to lanes of earlier outputs, so that each element is loaded once.
//
//   elements              0 1 2 3 4 5 6 7     KERNEL_2 = 3, DILATION_2 = 2, STRIDE_2 = 1
//   taps of output 0      0 . 1 . 2
//   taps of output 1        0 . 1 . 2
//   lanes at tap 1            [. . . .]       two slides further than at tap 0
// requires: Acc, combine_rows, slide_lanes, line_elements, SLIDES, DILATION_2, STRIDE_2
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

//// alternating: The maxima of neighbouring windows in one line of X, for windows of stride 2. Even taps and odd taps
// each slide like windows of stride 1, so that each element is loaded once.
//
//   elements              0 1 2 3 4 5 6 7 8    KERNEL_2 = 3
//   even elements         [0   2   4   6] 8    taps 0 and, one slide further, 2
//   odd elements            [1   3   5   7]    tap 1
// requires: combine_rows, slide_lanes, alternating_elements, KERNEL_2
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

//// apart: The maxima of neighbouring windows in one line of X, where windows share few elements or none: tap by tap.
// requires: combine_rows, lanes_at, KERNEL_2, DILATION_2
fn row_windows(line: u32, column: i32, order: u32) -> Row {
  var best = lanes_at(line, column, order);
  for (var tap = 1u; tap < KERNEL_2; tap++) {
    best = combine_rows(best, lanes_at(line, column + i32(tap * DILATION_2), order + tap * DILATION_2));
  }
  return best;
}

//// apart_in_words: The maxima of neighbouring windows in one line of X, for dilated windows of stride 1 and elements
// smaller than a word. The same tap of neighbouring windows is contiguous in X, so that whole words are loaded and
// shifted. A tap that follows a tap in the begin padding restarts its window; a tap beyond the line's end repeats the
// previous tap.
// requires: Acc, Raw, Elements, Quad, row_from, lifted, choose, combine, pool, begin_at, four_from, KERNEL_2, DILATION_2, QUADS
// The partial maxima of four windows.
struct Four {
  best: Quad,
  first: Elements,
  // The latest tap.
  tap: Quad,
}

// A window's partial maximum, its first element, and its latest tap.
struct One {
  best: Acc,
  first: Raw,
  tap: Acc,
}

fn with_tap(before: One, element: Acc, raw: Raw, column: i32) -> One {
  let begins = column < i32(DILATION_2);
  let tap = choose(element, before.tap, column < i32(pool.axes[2].input));
  return One(choose(tap, combine(before.best, tap), begins), select(before.first, raw, begins), tap);
}

fn with_taps(four: Four, elements: Quad, raws: Elements, column: i32) -> Four {
  let a = with_tap(One(four.best.a, four.first.a, four.tap.a), elements.a, raws.a, column);
  let b = with_tap(One(four.best.b, four.first.b, four.tap.b), elements.b, raws.b, column + 1);
  let c = with_tap(One(four.best.c, four.first.c, four.tap.c), elements.c, raws.c, column + 2);
  let d = with_tap(One(four.best.d, four.first.d, four.tap.d), elements.d, raws.d, column + 3);
  return Four(Quad(a.best, b.best, c.best, d.best), Elements(a.first, b.first, c.first, d.first), Quad(a.tap, b.tap, c.tap, d.tap));
}

struct Fours {
  low: Four,
  high: Four,
}

fn four_after(four: Four, line: u32, column: i32, order: u32, tap: u32) -> Four {
  let at = column + i32(tap * DILATION_2);
  let raws = four_from(begin_at(line + u32(at)), 0u);
  let columns = vec4<u32>(u32(at), u32(at + 1), u32(at + 2), u32(at + 3));
  let elements = lifted(raws, columns, order + tap * DILATION_2, 1u);
  var next = Four(elements, raws, elements);
  if (tap > 0u) {
    next = with_taps(four, elements, raws, at);
  }
  return next;
}

fn after(fours: Fours, line: u32, column: i32, order: u32, tap: u32) -> Fours {
  var next = fours;
  next.low = four_after(fours.low, line, column, order, tap);
  if (QUADS > 1u) {
    next.high = four_after(fours.high, line, column + 4, order + 4u, tap);
  }
  return next;
}

fn row_windows(line: u32, column: i32, order: u32) -> Row {
  var fours: Fours;
  fours = after(fours, line, column, order, 0u);
  if (KERNEL_2 > 1u) {
    fours = after(fours, line, column, order, 1u);
  }
  if (KERNEL_2 > 2u) {
    fours = after(fours, line, column, order, 2u);
  }
  if (KERNEL_2 > 3u) {
    for (var tap = 3u; tap < KERNEL_2; tap++) {
      fours = after(fours, line, column, order, tap);
    }
  }
  return row_from(fours.low.best, fours.high.best, fours.low.first, fours.high.first);
}
