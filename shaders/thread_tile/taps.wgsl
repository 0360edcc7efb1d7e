// A line of X as the taps of windows side by side: `t<k>` has the tap k of each window, whose number is that of the
// line plus `n<k>`. Taps outside the line are replaced by the nearest tap of the same window inside it, which changes
// neither the maximum nor the first element.

//// taps: The vectors of a line.
// provides: Taps
// requires: Lanes
struct Taps {
  t0: Lanes,
  t1: Lanes,
  t2: Lanes,
  t3: Lanes,
  t4: Lanes,
  t5: Lanes,
  t6: Lanes,
  t7: Lanes,
  t8: Lanes,
  n0: u32,
  n1: u32,
  n2: u32,
  n3: u32,
  n4: u32,
  n5: u32,
  n6: u32,
  n7: u32,
  n8: u32,
}

//// taps_along: The windows of four neighbouring outputs of a line. The elements that the windows span are loaded
// once, in vectors: those of the outputs' own columns, one with the PAD_2 elements before them, and one or two
// with the BEHIND elements behind them. A line is whole vectors, so a vector lies in it or outside.
//
//   columns  . . . -1 | 0 1 2 3 | 4 . . .       KERNEL_2 = 3, STRIDE_2 = 1, PAD_2 = 1, BEHIND = 1, SPAN = 6
//   loads    [vector]  [vector]  [vector]
//   t0             -1   0 1 2
//   t1                  0 1 2 3
//   t2                    1 2 3   4
// provides: Columns, columns_of, taps_of, lane_column, lane_channel
// requires: Taps, pool, Lane, lane_from, lanes_from, four_at, KERNEL_2, STRIDE_2, DILATION_2, PAD_2, BEHIND, SPAN
// The columns of the vectors that are loaded, and which lie outside. They are the same in every line.
struct Columns {
  before: u32,
  whole: u32,
  behind: u32,
  behind_4: u32,
  no_before: bool,
  no_behind: bool,
  no_behind_4: bool,
}

const END: u32 = PAD_2 + 4u * STRIDE_2;

fn columns_of(column: i32, channel: u32) -> Columns {
  let width = pool.axes[2].input;
  let whole = u32(column) + PAD_2;
  let behind = whole + 4u * STRIDE_2;
  return Columns(
    max(whole, 4u) - 4u,
    whole,
    min(behind, width - 4u),
    min(behind + 4u, width - 4u),
    whole == 0u,
    behind >= width,
    behind + 4u >= width,
  );
}

// The column of a lane's window, relative to that of lane 0, and the channel of a lane.
fn lane_column(lane: u32) -> i32 {
  return i32(lane * STRIDE_2);
}

fn lane_channel(lane: u32) -> u32 {
  return 0u;
}

fn taps_of(line: u32, columns: Columns) -> Taps {
  var s: array<Lane, SPAN>;
  let v0 = four_at(line + columns.whole);
  s[PAD_2] = lane_from(v0.a);
  s[PAD_2 + 1u] = lane_from(v0.b);
  s[PAD_2 + 2u] = lane_from(v0.c);
  s[PAD_2 + 3u] = lane_from(v0.d);
  if (STRIDE_2 > 1u) {
    let v1 = four_at(line + columns.whole + 4u);
    s[PAD_2 + 4u] = lane_from(v1.a);
    s[PAD_2 + 5u] = lane_from(v1.b);
    s[PAD_2 + 6u] = lane_from(v1.c);
    s[PAD_2 + 7u] = lane_from(v1.d);
  }
  if (STRIDE_2 > 2u) {
    let v2 = four_at(line + columns.whole + 8u);
    s[PAD_2 + 8u] = lane_from(v2.a);
    s[PAD_2 + 9u] = lane_from(v2.b);
    s[PAD_2 + 10u] = lane_from(v2.c);
    s[PAD_2 + 11u] = lane_from(v2.d);
  }
  if (STRIDE_2 > 3u) {
    let v3 = four_at(line + columns.whole + 12u);
    s[PAD_2 + 12u] = lane_from(v3.a);
    s[PAD_2 + 13u] = lane_from(v3.b);
    s[PAD_2 + 14u] = lane_from(v3.c);
    s[PAD_2 + 15u] = lane_from(v3.d);
  }
  // Outside, the next tap of the same window.
  if (PAD_2 > 0u) {
    let before = four_at(line + columns.before);
    s[PAD_2 - 1u] = select(lane_from(before.d), s[min(PAD_2 - 1u + DILATION_2, END - 1u)], columns.no_before);
    if (PAD_2 > 1u) {
      s[PAD_2 - 2u] = select(lane_from(before.c), s[min(PAD_2 - 2u + DILATION_2, END - 1u)], columns.no_before);
    }
    if (PAD_2 > 2u) {
      s[PAD_2 - 3u] = select(lane_from(before.b), s[min(PAD_2 - 3u + DILATION_2, END - 1u)], columns.no_before);
    }
    if (PAD_2 > 3u) {
      s[PAD_2 - 4u] = select(lane_from(before.a), s[min(PAD_2 - 4u + DILATION_2, END - 1u)], columns.no_before);
    }
  }
  // Outside, the tap before.
  if (BEHIND > 0u) {
    let behind = four_at(line + columns.behind);
    s[END] = select(lane_from(behind.a), s[max(END, DILATION_2) - DILATION_2], columns.no_behind);
    if (BEHIND > 1u) {
      s[END + 1u] = select(lane_from(behind.b), s[max(END + 1u, DILATION_2) - DILATION_2], columns.no_behind);
    }
    if (BEHIND > 2u) {
      s[END + 2u] = select(lane_from(behind.c), s[max(END + 2u, DILATION_2) - DILATION_2], columns.no_behind);
    }
    if (BEHIND > 3u) {
      s[END + 3u] = select(lane_from(behind.d), s[max(END + 3u, DILATION_2) - DILATION_2], columns.no_behind);
    }
  }
  if (BEHIND > 4u) {
    let behind = four_at(line + columns.behind_4);
    s[END + 4u] = select(lane_from(behind.a), s[max(END + 4u, DILATION_2) - DILATION_2], columns.no_behind_4);
    if (BEHIND > 5u) {
      s[END + 5u] = select(lane_from(behind.b), s[max(END + 5u, DILATION_2) - DILATION_2], columns.no_behind_4);
    }
    if (BEHIND > 6u) {
      s[END + 6u] = select(lane_from(behind.c), s[max(END + 6u, DILATION_2) - DILATION_2], columns.no_behind_4);
    }
    if (BEHIND > 7u) {
      s[END + 7u] = select(lane_from(behind.d), s[max(END + 7u, DILATION_2) - DILATION_2], columns.no_behind_4);
    }
  }
  var taps: Taps;
  taps.t0 = lanes_from(s[0u], s[STRIDE_2], s[2u * STRIDE_2], s[3u * STRIDE_2]);
  if (KERNEL_2 > 1u) {
    taps.n1 = 1u;
    taps.t1 = lanes_from(s[DILATION_2], s[DILATION_2 + STRIDE_2], s[DILATION_2 + 2u * STRIDE_2], s[DILATION_2 + 3u * STRIDE_2]);
  }
  if (KERNEL_2 > 2u) {
    const TAP = 2u * DILATION_2;
    taps.n2 = 2u;
    taps.t2 = lanes_from(s[TAP], s[TAP + STRIDE_2], s[TAP + 2u * STRIDE_2], s[TAP + 3u * STRIDE_2]);
  }
  if (KERNEL_2 > 3u) {
    const TAP = 3u * DILATION_2;
    taps.n3 = 3u;
    taps.t3 = lanes_from(s[TAP], s[TAP + STRIDE_2], s[TAP + 2u * STRIDE_2], s[TAP + 3u * STRIDE_2]);
  }
  if (KERNEL_2 > 4u) {
    const TAP = 4u * DILATION_2;
    taps.n4 = 4u;
    taps.t4 = lanes_from(s[TAP], s[TAP + STRIDE_2], s[TAP + 2u * STRIDE_2], s[TAP + 3u * STRIDE_2]);
  }
  if (KERNEL_2 > 5u) {
    const TAP = 5u * DILATION_2;
    taps.n5 = 5u;
    taps.t5 = lanes_from(s[TAP], s[TAP + STRIDE_2], s[TAP + 2u * STRIDE_2], s[TAP + 3u * STRIDE_2]);
  }
  if (KERNEL_2 > 6u) {
    const TAP = 6u * DILATION_2;
    taps.n6 = 6u;
    taps.t6 = lanes_from(s[TAP], s[TAP + STRIDE_2], s[TAP + 2u * STRIDE_2], s[TAP + 3u * STRIDE_2]);
  }
  if (KERNEL_2 > 7u) {
    const TAP = 7u * DILATION_2;
    taps.n7 = 7u;
    taps.t7 = lanes_from(s[TAP], s[TAP + STRIDE_2], s[TAP + 2u * STRIDE_2], s[TAP + 3u * STRIDE_2]);
  }
  if (KERNEL_2 > 8u) {
    const TAP = 8u * DILATION_2;
    taps.n8 = 8u;
    taps.t8 = lanes_from(s[TAP], s[TAP + STRIDE_2], s[TAP + 2u * STRIDE_2], s[TAP + 3u * STRIDE_2]);
  }
  return taps;
}

//// taps_apart: The window of one output in four channels, or in one: each tap is loaded by itself. Neighbouring
// invocations load neighbouring channels or outputs, whatever the length of a line.
// provides: Columns, columns_of, taps_of, lane_column, lane_channel
// requires: Taps, pool, lanes_at, clamp_tap, KERNEL_2, DILATION_2
// The columns of the taps, and their positions in a line.
struct Columns {
  column: array<u32, KERNEL_2>,
  position: array<u32, KERNEL_2>,
}

fn columns_of(column: i32, channel: u32) -> Columns {
  var columns: Columns;
  columns.column[0u] = clamp_tap(column, pool.axes[2].input, DILATION_2);
  columns.position[0u] = columns.column[0u] * pool.inner + channel;
  if (KERNEL_2 > 1u) {
    columns.column[1u] = clamp_tap(column + i32(DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[1u] = columns.column[1u] * pool.inner + channel;
  }
  if (KERNEL_2 > 2u) {
    columns.column[2u] = clamp_tap(column + i32(2u * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[2u] = columns.column[2u] * pool.inner + channel;
  }
  if (KERNEL_2 > 3u) {
    columns.column[3u] = clamp_tap(column + i32(3u * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[3u] = columns.column[3u] * pool.inner + channel;
  }
  if (KERNEL_2 > 4u) {
    columns.column[4u] = clamp_tap(column + i32(4u * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[4u] = columns.column[4u] * pool.inner + channel;
  }
  if (KERNEL_2 > 5u) {
    columns.column[5u] = clamp_tap(column + i32(5u * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[5u] = columns.column[5u] * pool.inner + channel;
  }
  if (KERNEL_2 > 6u) {
    columns.column[6u] = clamp_tap(column + i32(6u * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[6u] = columns.column[6u] * pool.inner + channel;
  }
  if (KERNEL_2 > 7u) {
    columns.column[7u] = clamp_tap(column + i32(7u * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[7u] = columns.column[7u] * pool.inner + channel;
  }
  if (KERNEL_2 > 8u) {
    columns.column[8u] = clamp_tap(column + i32(8u * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[8u] = columns.column[8u] * pool.inner + channel;
  }
  return columns;
}

fn lane_column(lane: u32) -> i32 {
  return 0;
}

fn lane_channel(lane: u32) -> u32 {
  return lane;
}

fn taps_of(line: u32, columns: Columns) -> Taps {
  var taps: Taps;
  taps.n0 = columns.column[0u];
  taps.t0 = lanes_at(line + columns.position[0u]);
  if (KERNEL_2 > 1u) {
    taps.n1 = columns.column[1u];
    taps.t1 = lanes_at(line + columns.position[1u]);
  }
  if (KERNEL_2 > 2u) {
    taps.n2 = columns.column[2u];
    taps.t2 = lanes_at(line + columns.position[2u]);
  }
  if (KERNEL_2 > 3u) {
    taps.n3 = columns.column[3u];
    taps.t3 = lanes_at(line + columns.position[3u]);
  }
  if (KERNEL_2 > 4u) {
    taps.n4 = columns.column[4u];
    taps.t4 = lanes_at(line + columns.position[4u]);
  }
  if (KERNEL_2 > 5u) {
    taps.n5 = columns.column[5u];
    taps.t5 = lanes_at(line + columns.position[5u]);
  }
  if (KERNEL_2 > 6u) {
    taps.n6 = columns.column[6u];
    taps.t6 = lanes_at(line + columns.position[6u]);
  }
  if (KERNEL_2 > 7u) {
    taps.n7 = columns.column[7u];
    taps.t7 = lanes_at(line + columns.position[7u]);
  }
  if (KERNEL_2 > 8u) {
    taps.n8 = columns.column[8u];
    taps.t8 = lanes_at(line + columns.position[8u]);
  }
  return taps;
}
