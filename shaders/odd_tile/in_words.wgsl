// Elements smaller than a word, of a line of X that may begin anywhere in a word. An element outside the line is
// replaced by the nearest element inside, which belongs to the same window because the dilation is one.
// provides: line_elements, alternating_elements
// requires: LineElements, AlternatingElements, Elements, Row, row_from, begin_at, four_from, lifted_at, pool, SLIDES, KERNEL_2, STRIDE_2, QUADS
// Neighbouring elements; the kernel reads FOURS of these quads.
struct Neighbours {
  q0: Elements,
  q1: Elements,
  q2: Elements,
  q3: Elements,
  q4: Elements,
  q5: Elements,
}

// Quads of neighbours that the windows of an invocation cover in a line.
const FOURS: u32 = (4u * QUADS * STRIDE_2 + max(KERNEL_2, STRIDE_2) - STRIDE_2 + 3u) / 4u;

// Replaces elements before the line by the next element; `next` follows the four.
fn without_before(four: Elements, column: i32, next: u32) -> Elements {
  var inside = four;
  inside.d = select(four.d, next, column + 3 < 0);
  inside.c = select(four.c, inside.d, column + 2 < 0);
  inside.b = select(four.b, inside.c, column + 1 < 0);
  inside.a = select(four.a, inside.b, column < 0);
  return inside;
}

// Replaces elements beyond the line's end by the previous element.
fn without_behind(four: Elements, column: i32, before: u32) -> Elements {
  let end = i32(pool.axes[2].input);
  var inside = four;
  inside.a = select(four.a, before, column >= end);
  inside.b = select(four.b, inside.a, column + 1 >= end);
  inside.c = select(four.c, inside.b, column + 2 >= end);
  inside.d = select(four.d, inside.c, column + 3 >= end);
  return inside;
}

fn neighbours_at(line: u32, column: i32) -> Neighbours {
  let begin = begin_at(line + u32(column));
  var all: Neighbours;
  if (FOURS > 5u) {
    all.q5 = four_from(begin, 5u);
    all.q5 = without_before(all.q5, column + 20, all.q5.d);
  }
  if (FOURS > 4u) {
    all.q4 = without_before(four_from(begin, 4u), column + 16, all.q5.a);
  }
  if (FOURS > 3u) {
    all.q3 = without_before(four_from(begin, 3u), column + 12, all.q4.a);
  }
  if (FOURS > 2u) {
    all.q2 = without_before(four_from(begin, 2u), column + 8, all.q3.a);
  }
  if (FOURS > 1u) {
    all.q1 = without_before(four_from(begin, 1u), column + 4, all.q2.a);
  }
  all.q0 = without_before(four_from(begin, 0u), column, all.q1.a);
  all.q0 = without_behind(all.q0, column, all.q0.a);
  if (FOURS > 1u) {
    all.q1 = without_behind(all.q1, column + 4, all.q0.d);
  }
  if (FOURS > 2u) {
    all.q2 = without_behind(all.q2, column + 8, all.q1.d);
  }
  if (FOURS > 3u) {
    all.q3 = without_behind(all.q3, column + 12, all.q2.d);
  }
  if (FOURS > 4u) {
    all.q4 = without_behind(all.q4, column + 16, all.q3.d);
  }
  if (FOURS > 5u) {
    all.q5 = without_behind(all.q5, column + 20, all.q4.d);
  }
  return all;
}

fn row_at(low: Elements, high: Elements, column: i32, order: u32, step: u32) -> Row {
  let first = lifted_at(low, 0u, column, order, step);
  var second = first;
  if (QUADS > 1u) {
    second = lifted_at(high, 0u, column + 4 * i32(step), order + 4u * step, step);
  }
  return row_from(first, second, low, high);
}

fn line_elements(line: u32, column: i32, order: u32) -> LineElements {
  let all = neighbours_at(line, column);
  let behind = 4u * QUADS;
  let lanes = row_at(all.q0, all.q1, column, order, 1u);
  var following = all.q1;
  var following_4 = all.q2;
  if (QUADS > 1u) {
    following = all.q2;
    following_4 = all.q3;
  }
  var next = lanes.low;
  var next_4 = lanes.low;
  if (SLIDES > 0u) {
    next = lifted_at(following, 0u, column + i32(behind), order + behind, 1u);
  }
  if (SLIDES > 4u) {
    next_4 = lifted_at(following_4, 0u, column + i32(behind) + 4, order + behind + 4u, 1u);
  }
  return LineElements(lanes, next, next_4);
}

// Every second of eight neighbours.
fn halved(p: Elements, q: Elements) -> Elements {
  return Elements(p.a, p.c, q.a, q.c);
}

fn halved_odd(p: Elements, q: Elements) -> Elements {
  return Elements(p.b, p.d, q.b, q.d);
}

fn alternating_elements(line: u32, column: i32, order: u32) -> AlternatingElements {
  let all = neighbours_at(line, column);
  let behind = 8u * QUADS;
  let far = column + i32(behind);
  let even = row_at(halved(all.q0, all.q1), halved(all.q2, all.q3), column, order, 2u);
  let odd = row_at(halved_odd(all.q0, all.q1), halved_odd(all.q2, all.q3), column + 1, order + 1u, 2u);
  var following = halved(all.q2, all.q3);
  var following_odd = halved_odd(all.q2, all.q3);
  if (QUADS > 1u) {
    following = halved(all.q4, all.q5);
    following_odd = halved_odd(all.q4, all.q5);
  }
  var next_even = even.low;
  var next_odd = even.low;
  if (KERNEL_2 > 2u) {
    next_even = lifted_at(following, 0u, far, order + behind, 2u);
  }
  if (KERNEL_2 > 3u) {
    next_odd = lifted_at(following_odd, 0u, far + 1, order + behind + 1u, 2u);
  }
  return AlternatingElements(even, odd, next_even, next_odd);
}
