// A line of X as the taps of windows side by side: `taps[k]` has the tap k of each window, whose number is that of the
// line plus `numbers[k]`. Taps outside the line are replaced by the nearest tap of the same window inside it, which
// changes neither the maximum nor the first element.

//// taps: The vectors of a line.
// provides: Taps
// requires: Lanes, KERNEL_2
struct Taps {
  taps: array<Lanes, KERNEL_2>,
  numbers: array<u32, KERNEL_2>,
}

//// taps_along when OUTPUTS_ALONG == 4 && FOURS: The windows of four neighbouring outputs of a line. The elements that
// the windows span are loaded once, in vectors: those of the outputs' own columns, one with the PAD_2 elements before
// them, and one or two with the BEHIND elements behind them. A line is whole vectors, so a vector lies in it or
// outside.
//
//   columns  . . . -1 | 0 1 2 3 | 4 . . .       KERNEL_2 = 3, STRIDE_2 = 1, PAD_2 = 1, BEHIND = 1, SPAN = 6
//   loads    [vector]  [vector]  [vector]
//   taps[0]        -1   0 1 2
//   taps[1]             0 1 2 3
//   taps[2]               1 2 3   4
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

fn four_lanes_at(position: u32) -> array<Lane, 4> {
  let four = four_at(position);
  return array<Lane, 4>(lane_from(four.a), lane_from(four.b), lane_from(four.c), lane_from(four.d));
}

fn taps_of(line: u32, columns: Columns) -> Taps {
  var s: array<Lane, SPAN>;
  for (var vector = 0u; vector < STRIDE_2; vector++) { // unrolled
    let four = four_lanes_at(line + columns.whole + 4u * vector);
    for (var i = 0u; i < 4u; i++) { // unrolled
      s[PAD_2 + 4u * vector + i] = four[i];
    }
  }
  if (BEHIND > 0u) {
    let four = four_lanes_at(line + columns.behind);
    for (var i = 0u; i < min(BEHIND, 4u); i++) { // unrolled
      s[END + i] = four[i];
    }
  }
  if (BEHIND > 4u) {
    let four = four_lanes_at(line + columns.behind_4);
    for (var i = 4u; i < BEHIND; i++) { // unrolled
      s[END + i] = four[i - 4u];
    }
  }
  // Outside, the next tap of the same window.
  if (PAD_2 > 0u) {
    let four = four_lanes_at(line + columns.before);
    for (var i = 1u; i < PAD_2 + 1u; i++) { // unrolled
      s[PAD_2 - i] = select(four[4u - i], s[min(PAD_2 - i + DILATION_2, SPAN - 1u)], columns.no_before);
    }
  }
  // Outside, the tap before.
  for (var i = 0u; i < BEHIND; i++) { // unrolled
    let before = s[max(END + i, DILATION_2) - DILATION_2];
    if (i < 4u) {
      s[END + i] = select(s[END + i], before, columns.no_behind);
    } else {
      s[END + i] = select(s[END + i], before, columns.no_behind_4);
    }
  }
  var found: Taps;
  for (var tap = 0u; tap < KERNEL_2; tap++) { // unrolled
    const FIRST = tap * DILATION_2;
    found.numbers[tap] = tap;
    found.taps[tap] = lanes_from(s[FIRST], s[FIRST + STRIDE_2], s[FIRST + 2u * STRIDE_2], s[FIRST + 3u * STRIDE_2]);
  }
  return found;
}

//// taps_shifted when OUTPUTS_ALONG == 4 && !FOURS: The windows of four neighbouring outputs of a line that is not
// whole words, which begins anywhere in a word. The words that the windows span are loaded once, and shifted: the first
// element comes first. Of its SPAN elements only the first BEFORE can lie before the line, and only those from BEHIND
// on behind it.
//
//   words of X     | a b c d | e f g h | i j k l |      8-bit elements, the windows begin at c
//   shifted            [ c d e f ] [ g h i j ]
// provides: Columns, columns_of, taps_of, lane_column, lane_channel
// requires: Taps, pool, x, extract, Lane, lane_from, lanes_from, OUTPUTS, ELEMENT_BITS, KERNEL_2, STRIDE_2, DILATION_2, BEFORE, BEHIND, SPAN
// The column of the first element.
struct Columns {
  first: i32,
}

const WORDS: u32 = (SPAN + OUTPUTS - 1u) / OUTPUTS;

fn columns_of(column: i32, channel: u32) -> Columns {
  return Columns(column);
}

fn lane_column(lane: u32) -> i32 {
  return i32(lane * STRIDE_2);
}

fn lane_channel(lane: u32) -> u32 {
  return 0u;
}

fn taps_of(line: u32, columns: Columns) -> Taps {
  let first = i32(line) + columns.first;
  // Before the first element of X, numbers of words wrap. What is read there, or behind the last element, is not used.
  let word = u32(first >> (OUTPUTS / 2u));
  let bits = u32(first) % OUTPUTS * ELEMENT_BITS;
  var s: array<Lane, SPAN>;
  var low = x[word];
  for (var number = 0u; number < WORDS; number++) { // unrolled
    let high = x[word + number + 1u];
    // WGSL takes shifts modulo 32, so the second word is shifted in two steps.
    let shifted = (low >> bits) | ((high << 1u) << (31u - bits));
    for (var i = 0u; i < min(OUTPUTS, SPAN - number * OUTPUTS); i++) { // unrolled
      s[number * OUTPUTS + i] = lane_from(extract(shifted, i));
    }
    low = high;
  }
  // Outside, the next tap of the same window.
  for (var i = 1u; i < BEFORE + 1u; i++) { // unrolled
    const AT = BEFORE - i;
    s[AT] = select(s[AT], s[min(AT + DILATION_2, SPAN - 1u)], columns.first + i32(AT) < 0);
  }
  // Outside, the tap before.
  for (var i = BEHIND; i < SPAN; i++) { // unrolled
    s[i] = select(s[i], s[max(i, DILATION_2) - DILATION_2], columns.first + i32(i) >= i32(pool.axes[2].input));
  }
  var found: Taps;
  for (var tap = 0u; tap < KERNEL_2; tap++) { // unrolled
    const FIRST = tap * DILATION_2;
    found.numbers[tap] = tap;
    found.taps[tap] = lanes_from(s[FIRST], s[FIRST + STRIDE_2], s[FIRST + 2u * STRIDE_2], s[FIRST + 3u * STRIDE_2]);
  }
  return found;
}

//// taps_apart when OUTPUTS_ALONG == 1: The window of one output in four channels, or in one: each tap is loaded by
// itself. Neighbouring invocations load neighbouring channels or outputs, whatever the length of a line.
// provides: Columns, columns_of, taps_of, lane_column, lane_channel
// requires: Taps, pool, lanes_at, clamp_tap, KERNEL_2, DILATION_2
// The columns of the taps, and their positions in a line.
struct Columns {
  column: array<u32, KERNEL_2>,
  position: array<u32, KERNEL_2>,
}

fn columns_of(column: i32, channel: u32) -> Columns {
  var columns: Columns;
  for (var tap = 0u; tap < KERNEL_2; tap++) { // unrolled
    columns.column[tap] = clamp_tap(column + i32(tap * DILATION_2), pool.axes[2].input, DILATION_2);
    columns.position[tap] = columns.column[tap] * pool.inner + channel;
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
  var found: Taps;
  for (var tap = 0u; tap < KERNEL_2; tap++) { // unrolled
    found.numbers[tap] = columns.column[tap];
    found.taps[tap] = lanes_at(line + columns.position[tap]);
  }
  return found;
}
