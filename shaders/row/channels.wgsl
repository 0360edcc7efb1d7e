// The maxima of a line of X where a quad is four channels of one place: windows of one place, or of two that share elements.
//
//   places of X      0 1 2 3       KERNEL_2 = 3, STRIDE_2 = 1, four channels each
//   windows          0 1 2         of the first quad
//                      1 2 3       of the second one
// provides: row_windows
// requires: Elements, Quad, Row, four_at, lifted, combine_quads, fold, pool, KERNEL_2, STRIDE_2, DILATION_2, QUADS
struct Channels {
  quad: Quad,
  raws: Elements,
}

fn fetch(line: u32, column: i32, order: u32) -> Channels {
  let inside = fold(column, pool.axes[2].input, DILATION_2);
  let raws = four_at(line + inside * pool.inner);
  return Channels(lifted(raws, vec4<u32>(inside), order, 0u), raws);
}

// Taps from one place to the next, and whether their taps fall together.
const TAPS_BETWEEN: u32 = STRIDE_2 / DILATION_2;
const SHARE: bool = STRIDE_2 % DILATION_2 == 0u && TAPS_BETWEEN < KERNEL_2;

// The windows of one place.
fn one_place(line: u32, column: i32, order: u32) -> Channels {
  var all = fetch(line, column, order);
  for (var tap = 1u; tap < KERNEL_2; tap++) {
    all.quad = combine_quads(all.quad, fetch(line, column + i32(tap * DILATION_2), order + tap * DILATION_2).quad);
  }
  return all;
}

// The windows of two places that share some elements, which are loaded once.
fn two_places(line: u32, column: i32, order: u32) -> Row {
  var low = fetch(line, column, order);
  for (var tap = 1u; tap < TAPS_BETWEEN; tap++) {
    low.quad = combine_quads(low.quad, fetch(line, column + i32(tap * DILATION_2), order + tap * DILATION_2).quad);
  }
  var high = fetch(line, column + i32(STRIDE_2), order + STRIDE_2);
  low.quad = combine_quads(low.quad, high.quad);
  for (var tap = TAPS_BETWEEN + 1u; tap < KERNEL_2; tap++) {
    let both = fetch(line, column + i32(tap * DILATION_2), order + tap * DILATION_2).quad;
    low.quad = combine_quads(low.quad, both);
    high.quad = combine_quads(high.quad, both);
  }
  for (var tap = KERNEL_2; tap < KERNEL_2 + TAPS_BETWEEN; tap++) {
    high.quad = combine_quads(high.quad, fetch(line, column + i32(tap * DILATION_2), order + tap * DILATION_2).quad);
  }
  return Row(low.quad, high.quad, low.raws, high.raws);
}

fn row_windows(line: u32, column: i32, order: u32) -> Row {
  var row: Row;
  if (QUADS > 1u && SHARE) {
    row = two_places(line, column, order);
  } else {
    let low = one_place(line, column, order);
    var high = low;
    if (QUADS > 1u) {
      high = one_place(line, column + i32(STRIDE_2), order + STRIDE_2);
    }
    row = Row(low.quad, high.quad, low.raws, high.raws);
  }
  return row;
}
