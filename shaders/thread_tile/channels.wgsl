// The maxima of a line of X where a quad is four channels of one column: windows of one column, or of two columns that
// share elements.
//
//   columns of X     0 1 2 3       KERNEL_2 = 3, STRIDE_2 = 1, four channels each
//   windows          0 1 2         of the first quad
//                      1 2 3       of the second one
// provides: row_windows
// requires: Elements, Quad, Row, row_from, four_at, lifted, combine_quads, clamp_tap, pool, position_of, KERNEL_2, STRIDE_2, DILATION_2, QUADS
struct Channels {
  quad: Quad,
  raws: Elements,
}

fn fetch(line: u32, column: i32, order: u32) -> Channels {
  let inside = clamp_tap(column, pool.axes[2].input, DILATION_2);
  let raws = four_at(position_of(line, inside));
  return Channels(lifted(raws, vec4<u32>(inside), order, 0u), raws);
}

// The distance of neighbouring windows in taps, and whether neighbouring windows share taps.
const TAPS_BETWEEN: u32 = STRIDE_2 / DILATION_2;
const SHARE: bool = STRIDE_2 % DILATION_2 == 0u && TAPS_BETWEEN < KERNEL_2;

// One tap of the windows of a column.
fn tap_at(line: u32, column: i32, order: u32, tap: u32) -> Quad {
  return fetch(line, column + i32(tap * DILATION_2), order + tap * DILATION_2).quad;
}

// The maximum of the taps from `begin` up to, not including, `end` of a column's windows; there is at least one such
// tap. The first four taps are unrolled, since a short loop costs more than its taps.
fn taps_from(line: u32, column: i32, order: u32, begin: u32, end: u32) -> Quad {
  var all = tap_at(line, column, order, begin);
  if (begin + 1u < end) {
    all = combine_quads(all, tap_at(line, column, order, begin + 1u));
  }
  if (begin + 2u < end) {
    all = combine_quads(all, tap_at(line, column, order, begin + 2u));
  }
  if (begin + 3u < end) {
    all = combine_quads(all, tap_at(line, column, order, begin + 3u));
  }
  if (begin + 4u < end) {
    for (var tap = begin + 4u; tap < end; tap++) {
      all = combine_quads(all, tap_at(line, column, order, tap));
    }
  }
  return all;
}

// The windows of one column.
fn one_place(line: u32, column: i32, order: u32) -> Channels {
  var all = fetch(line, column, order);
  if (KERNEL_2 > 1u) {
    all.quad = combine_quads(all.quad, taps_from(line, column, order, 1u, KERNEL_2));
  }
  return all;
}

// The windows of two neighbouring columns; elements that they share are loaded once.
fn two_places(line: u32, column: i32, order: u32) -> Row {
  var low = fetch(line, column, order);
  if (TAPS_BETWEEN > 1u) {
    low.quad = combine_quads(low.quad, taps_from(line, column, order, 1u, TAPS_BETWEEN));
  }
  var high = fetch(line, column + i32(STRIDE_2), order + STRIDE_2);
  if (TAPS_BETWEEN + 1u < KERNEL_2) {
    high.quad = combine_quads(high.quad, taps_from(line, column, order, TAPS_BETWEEN + 1u, KERNEL_2));
  }
  low.quad = combine_quads(low.quad, high.quad);
  high.quad = combine_quads(high.quad, taps_from(line, column, order, KERNEL_2, KERNEL_2 + TAPS_BETWEEN));
  return row_from(low.quad, high.quad, low.raws, high.raws);
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
    row = row_from(low.quad, high.quad, low.raws, high.raws);
  }
  return row;
}
