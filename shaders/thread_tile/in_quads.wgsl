// Elements of a line of X, for lines whose length is a multiple of four and at least the number of outputs times the
// stride. Elements are loaded four at a time. Only the PAD_2 elements before the first four and the halo after the last
// four are loaded one by one; outside the line they are replaced by the nearest tap of the same window inside the line.
//
//   columns    -1 | 0 1 2 3 | 4 5 6 7 | 8        PAD_2 = 1, STRIDE_2 = 1, KERNEL_2 = 3
//   loads       .   [ four ]  [ four ]  .
// provides: line_elements, alternating_elements
// requires: LineElements, AlternatingElements, Acc, Quad, Row, row_from, elements_in, lifted, lift_in_order, one_at, four_at, clamp_tap, pool, SLIDES, KERNEL_2, DILATION_2, QUADS, PAD_2, LINES_IN_EIGHTS
// Two consecutive quads.
struct Pair {
  low: Quad,
  high: Quad,
}

fn fetch(line: u32, column: i32, order: u32) -> Acc {
  let inside = clamp_tap(column, pool.axes[2].input, DILATION_2);
  return lift_in_order(one_at(line + inside), inside, order);
}

// Four neighbours; `column` is a multiple of four.
fn fetch_four(line: u32, column: u32, order: u32) -> Quad {
  return lifted(four_at(line + column), vec4<u32>(column, column + 1u, column + 2u, column + 3u), order, 1u);
}

// `fetch_four` for neighbours that may lie beyond the line's end.
fn fetch_four_behind(line: u32, column: u32, order: u32) -> Quad {
  var four = fetch_four(line, column, order);
  if (LINES_IN_EIGHTS == 0u && column >= pool.axes[2].input) {
    let behind = i32(column);
    four.a = fetch(line, behind, order);
    four.b = fetch(line, behind + 1, order + 1u);
    four.c = fetch(line, behind + 2, order + 2u);
    four.d = fetch(line, behind + 3, order + 3u);
  }
  return four;
}

fn row_of(pair: Pair) -> Row {
  return row_from(pair.low, pair.high, elements_in(pair.low), elements_in(pair.high));
}

// The elements shifted by one column, with `before` as the new first element.
fn shifted(pair: Pair, before: Acc) -> Pair {
  let low = Quad(before, pair.low.a, pair.low.b, pair.low.c);
  return Pair(low, Quad(pair.low.d, pair.high.a, pair.high.b, pair.high.c));
}

// The last element of the row.
fn last(pair: Pair) -> Acc {
  var end = pair.low.d;
  if (QUADS > 1u) {
    end = pair.high.d;
  }
  return end;
}

fn line_elements(line: u32, column: i32, order: u32) -> LineElements {
  let begin = u32(column + i32(PAD_2));
  var lanes: Pair;
  lanes.low = fetch_four(line, begin, order + PAD_2);
  lanes.high = lanes.low;
  if (QUADS > 1u) {
    lanes.high = fetch_four_behind(line, begin + 4u, order + PAD_2 + 4u);
  }
  // Each padding element is shifted in before the first lane, and shifts out the last lane's element. That element then
  // enters first as the windows slide.
  var next: Quad;
  var next_4: Quad;
  for (var pad = 0u; pad < PAD_2; pad++) {
    next_4 = Quad(next.d, next_4.a, next_4.b, next_4.c);
    next = Quad(last(lanes), next.a, next.b, next.c);
    lanes = shifted(lanes, fetch(line, column + i32(PAD_2 - 1u - pad), order + PAD_2 - 1u - pad));
  }
  let end = column + i32(4u * QUADS);
  let after = order + 4u * QUADS;
  if (SLIDES > 0u && PAD_2 < 1u) {
    next.a = fetch(line, end, after);
  }
  if (SLIDES > 1u && PAD_2 < 2u) {
    next.b = fetch(line, end + 1, after + 1u);
  }
  if (SLIDES > 2u && PAD_2 < 3u) {
    next.c = fetch(line, end + 2, after + 2u);
  }
  if (SLIDES > 3u && PAD_2 < 4u) {
    next.d = fetch(line, end + 3, after + 3u);
  }
  if (SLIDES > 4u && PAD_2 < 5u) {
    next_4.a = fetch(line, end + 4, after + 4u);
  }
  if (SLIDES > 5u && PAD_2 < 6u) {
    next_4.b = fetch(line, end + 5, after + 5u);
  }
  if (SLIDES > 6u && PAD_2 < 7u) {
    next_4.c = fetch(line, end + 6, after + 6u);
  }
  if (SLIDES > 7u && PAD_2 < 8u) {
    next_4.d = fetch(line, end + 7, after + 7u);
  }
  return LineElements(row_of(lanes), next, next_4);
}

// Splits eight neighbours into even and odd columns.
fn apart(p: Quad, q: Quad) -> Pair {
  return Pair(Quad(p.a, p.c, q.a, q.c), Quad(p.b, p.d, q.b, q.d));
}

fn alternating_elements(line: u32, column: i32, order: u32) -> AlternatingElements {
  let begin = u32(column + i32(PAD_2));
  let first = apart(fetch_four(line, begin, order + PAD_2), fetch_four(line, begin + 4u, order + PAD_2 + 4u));
  var second = first;
  if (QUADS > 1u) {
    let third = fetch_four_behind(line, begin + 8u, order + PAD_2 + 8u);
    second = apart(third, fetch_four_behind(line, begin + 12u, order + PAD_2 + 12u));
  }
  // Even and odd columns are those of the padded line, so each padding element swaps the two.
  var even = Pair(first.low, second.low);
  var odd = Pair(first.high, second.high);
  var next_even: Quad;
  var next_odd: Quad;
  for (var pad = 0u; pad < PAD_2; pad++) {
    let even_before = even;
    let next_before = next_even;
    next_even = Quad(last(odd), next_odd.a, next_odd.b, next_odd.c);
    next_odd = next_before;
    even = shifted(odd, fetch(line, column + i32(PAD_2 - 1u - pad), order + PAD_2 - 1u - pad));
    odd = even_before;
  }
  let end = column + i32(8u * QUADS);
  let after = order + 8u * QUADS;
  if (KERNEL_2 > 2u && PAD_2 < 1u) {
    next_even.a = fetch(line, end, after);
  }
  if (KERNEL_2 > 3u && PAD_2 < 2u) {
    next_odd.a = fetch(line, end + 1, after + 1u);
  }
  if (KERNEL_2 > 4u && PAD_2 < 3u) {
    next_even.b = fetch(line, end + 2, after + 2u);
  }
  if (KERNEL_2 > 5u && PAD_2 < 4u) {
    next_odd.b = fetch(line, end + 3, after + 3u);
  }
  if (KERNEL_2 > 6u && PAD_2 < 5u) {
    next_even.c = fetch(line, end + 4, after + 4u);
  }
  if (KERNEL_2 > 7u && PAD_2 < 6u) {
    next_odd.c = fetch(line, end + 5, after + 5u);
  }
  return AlternatingElements(row_of(even), row_of(odd), next_even, next_odd);
}
