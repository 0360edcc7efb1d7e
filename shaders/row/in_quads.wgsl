// Elements of a line of X where lines come out even with four elements of a word each, and all columns that the outputs step
// over lie inside: these are loaded by fours. Only PAD_2 elements before them, and those behind them, are loaded one by one;
// outside the line they are replaced by the next element of the same window inside.
//
//   columns    -1 | 0 1 2 3 | 4 5 6 7 | 8        PAD_2 = 1, STRIDE_2 = 1, KERNEL_2 = 3
//   loads       .   [ four ]  [ four ]  .
// provides: x, line_elements, alternating_elements
// requires: Acc, Quad, Raws, Row, lift, fold, pool, SLIDES, KERNEL_2, DILATION_2, QUADS, PAD_2
@group(0) @binding(1) var<storage, read> x: array<vec4<u32>>;

struct LineElements {
  lanes: Row,
  next: Quad,
  next_4: Quad,
}

struct AlternatingElements {
  even: Row,
  odd: Row,
  next_even: Quad,
  next_odd: Quad,
}

// Two quads side by side.
struct Pair {
  low: Quad,
  high: Quad,
}

fn fetch(line: u32, column: i32) -> Acc {
  let inside = fold(column, pool.axes[2].input, DILATION_2);
  let position = line + inside;
  return lift(x[position >> 2u][position & 3u], inside);
}

// Four neighbours, the first of which has a column that is a multiple of four.
fn fetch_four(line: u32, column: u32) -> Quad {
  let words = x[(line + column) >> 2u];
  return Quad(lift(words.x, column), lift(words.y, column + 1u), lift(words.z, column + 2u), lift(words.w, column + 3u));
}

fn raws_of(quad: Quad) -> Raws {
  return Raws(quad.a.raw, quad.b.raw, quad.c.raw, quad.d.raw);
}

fn row_of(pair: Pair) -> Row {
  return Row(pair.low, pair.high, raws_of(pair.low), raws_of(pair.high));
}

// The elements with a column less, `before` coming in at their begin.
fn shifted(pair: Pair, before: Acc) -> Pair {
  let low = Quad(before, pair.low.a, pair.low.b, pair.low.c);
  return Pair(low, Quad(pair.low.d, pair.high.a, pair.high.b, pair.high.c));
}

// The last element.
fn last(pair: Pair) -> Acc {
  var end = pair.low.d;
  if (QUADS > 1u) {
    end = pair.high.d;
  }
  return end;
}

fn line_elements(line: u32, column: i32) -> LineElements {
  let begin = u32(column + i32(PAD_2));
  var lanes: Pair;
  lanes.low = fetch_four(line, begin);
  lanes.high = lanes.low;
  if (QUADS > 1u) {
    lanes.high = fetch_four(line, begin + 4u);
  }
  // Each element of the padding pushes one out at the end, which comes in again first.
  var next: Quad;
  var next_4: Quad;
  for (var pad = 0u; pad < PAD_2; pad++) {
    next_4 = Quad(next.d, next_4.a, next_4.b, next_4.c);
    next = Quad(last(lanes), next.a, next.b, next.c);
    lanes = shifted(lanes, fetch(line, column + i32(PAD_2 - 1u - pad)));
  }
  let end = i32(begin + 4u * QUADS) - i32(PAD_2);
  if (SLIDES > 0u && PAD_2 < 1u) {
    next.a = fetch(line, end);
  }
  if (SLIDES > 1u && PAD_2 < 2u) {
    next.b = fetch(line, end + 1);
  }
  if (SLIDES > 2u && PAD_2 < 3u) {
    next.c = fetch(line, end + 2);
  }
  if (SLIDES > 3u && PAD_2 < 4u) {
    next.d = fetch(line, end + 3);
  }
  if (SLIDES > 4u && PAD_2 < 5u) {
    next_4.a = fetch(line, end + 4);
  }
  if (SLIDES > 5u && PAD_2 < 6u) {
    next_4.b = fetch(line, end + 5);
  }
  if (SLIDES > 6u && PAD_2 < 7u) {
    next_4.c = fetch(line, end + 6);
  }
  if (SLIDES > 7u && PAD_2 < 8u) {
    next_4.d = fetch(line, end + 7);
  }
  return LineElements(row_of(lanes), next, next_4);
}

// Of eight neighbours those with even and with odd columns.
fn apart(p: Quad, q: Quad) -> Pair {
  return Pair(Quad(p.a, p.c, q.a, q.c), Quad(p.b, p.d, q.b, q.d));
}

fn alternating_elements(line: u32, column: i32) -> AlternatingElements {
  let begin = u32(column + i32(PAD_2));
  let first = apart(fetch_four(line, begin), fetch_four(line, begin + 4u));
  var second = first;
  if (QUADS > 1u) {
    second = apart(fetch_four(line, begin + 8u), fetch_four(line, begin + 12u));
  }
  // By column in the padded line: where the padding is odd, odd columns are even ones there.
  var even = Pair(first.low, second.low);
  var odd = Pair(first.high, second.high);
  var next_even: Quad;
  var next_odd: Quad;
  for (var pad = 0u; pad < PAD_2; pad++) {
    let even_before = even;
    let next_before = next_even;
    next_even = Quad(last(odd), next_odd.a, next_odd.b, next_odd.c);
    next_odd = next_before;
    even = shifted(odd, fetch(line, column + i32(PAD_2 - 1u - pad)));
    odd = even_before;
  }
  let end = i32(begin + 8u * QUADS) - i32(PAD_2);
  if (KERNEL_2 > 2u && PAD_2 < 1u) {
    next_even.a = fetch(line, end);
  }
  if (KERNEL_2 > 3u && PAD_2 < 2u) {
    next_odd.a = fetch(line, end + 1);
  }
  if (KERNEL_2 > 4u && PAD_2 < 3u) {
    next_even.b = fetch(line, end + 2);
  }
  if (KERNEL_2 > 5u && PAD_2 < 4u) {
    next_odd.b = fetch(line, end + 3);
  }
  if (KERNEL_2 > 6u && PAD_2 < 5u) {
    next_even.c = fetch(line, end + 4);
  }
  if (KERNEL_2 > 7u && PAD_2 < 6u) {
    next_odd.c = fetch(line, end + 5);
  }
  return AlternatingElements(row_of(even), row_of(odd), next_even, next_odd);
}
