// The maxima of neighbouring windows in one line of X, of elements smaller than a word, in a line that may begin
// anywhere in a word. Lines of Y are not whole words either: the last word of a line also holds the first elements of
// the next line. The windows of these elements are the head of the next line.
// provides: Windows, join_windows, Line, join_lines, line_of_windows, head_of_windows
// requires: Reader, reader_at, shifted_word, four_in, lifted_at, Elements, Quad, combine_quads, join_quads, pool, OUTPUTS, OUTPUTS_SEEN, KERNEL_2, STRIDE_2, PAD_2, X_ALIGNED, BEHIND, QUADS
// The windows of four neighbouring outputs, and their first elements.
struct Windows {
  best: Quad,
  first: Elements,
}

// The windows of neighbouring outputs, QUADS quads.
struct Line {
  w0: Windows,
  w1: Windows,
  w2: Windows,
  w3: Windows,
}

// Quads of neighbouring elements that the windows cover.
struct Fours {
  q0: Elements,
  q1: Elements,
  q2: Elements,
  q3: Elements,
  q4: Elements,
  q5: Elements,
  q6: Elements,
  q7: Elements,
  q8: Elements,
}

// The number of elements that the windows of a line cover, and that the windows of a head cover.
const REACH: u32 = (OUTPUTS_SEEN - 1u) * STRIDE_2 + KERNEL_2;
const HEAD_REACH: u32 = (OUTPUTS - 2u) * STRIDE_2 + KERNEL_2;

fn four_of(reader: ptr<function, Reader>, number: u32) -> Elements {
  let first = shifted_word(reader, number * (4u / OUTPUTS));
  var second = first;
  if (OUTPUTS == 2u) {
    second = shifted_word(reader, number * 2u + 1u);
  }
  return four_in(first, second);
}

// Replaces elements before the line by the first element inside; there are at most PAD_2 of them.
fn without_before(four: Elements, column: i32, next: u32) -> Elements {
  var inside = four;
  if (PAD_2 > 3u) {
    inside.d = select(four.d, next, column + 3 < 0);
  }
  if (PAD_2 > 2u) {
    inside.c = select(four.c, inside.d, column + 2 < 0);
  }
  if (PAD_2 > 1u) {
    inside.b = select(four.b, inside.c, column + 1 < 0);
  }
  if (PAD_2 > 0u) {
    inside.a = select(four.a, inside.b, column < 0);
  }
  return inside;
}

// Replaces elements beyond the line's end by the previous element; windows cover at most BEHIND of them.
fn without_behind(four: Elements, number: i32, end: i32, before: u32) -> Elements {
  var inside = four;
  if (BEHIND == 1u) {
    inside.a = select(four.a, before, end == number);
    inside.b = select(four.b, four.a, end == number + 1);
    inside.c = select(four.c, four.b, end == number + 2);
    inside.d = select(four.d, four.c, end == number + 3);
  } else {
    inside.a = select(four.a, before, end <= number);
    inside.b = select(four.b, inside.a, end <= number + 1);
    inside.c = select(four.c, inside.b, end <= number + 2);
    inside.d = select(four.d, inside.c, end <= number + 3);
  }
  return inside;
}

// `without_behind` for all elements from a column on. The first of them does not lie beyond the line's end, or the
// windows are not used.
fn all_without_behind(fours: Fours, column: i32) -> Fours {
  let end = i32(pool.axes[2].input) - column;
  var all = fours;
  all.q0 = without_behind(all.q0, 0, end, all.q0.a);
  if (REACH > 4u) {
    all.q1 = without_behind(all.q1, 4, end, all.q0.d);
  }
  if (REACH > 8u) {
    all.q2 = without_behind(all.q2, 8, end, all.q1.d);
  }
  if (REACH > 12u) {
    all.q3 = without_behind(all.q3, 12, end, all.q2.d);
  }
  if (REACH > 16u) {
    all.q4 = without_behind(all.q4, 16, end, all.q3.d);
  }
  if (REACH > 20u) {
    all.q5 = without_behind(all.q5, 20, end, all.q4.d);
  }
  if (REACH > 24u) {
    all.q6 = without_behind(all.q6, 24, end, all.q5.d);
  }
  if (REACH > 28u) {
    all.q7 = without_behind(all.q7, 28, end, all.q6.d);
  }
  if (REACH > 32u) {
    all.q8 = without_behind(all.q8, 32, end, all.q7.d);
  }
  return all;
}

fn fours_at(position: u32, column: i32, reach: u32) -> Fours {
  // The first element may be the last element of its word.
  let before = select(OUTPUTS - 1u, 0u, X_ALIGNED != 0u);
  var reader = reader_at(position, (reach + before + OUTPUTS - 1u) / OUTPUTS);
  var all: Fours;
  all.q0 = four_of(&reader, 0u);
  if (reach > 4u) {
    all.q1 = four_of(&reader, 1u);
  }
  if (reach > 8u) {
    all.q2 = four_of(&reader, 2u);
  }
  if (reach > 12u) {
    all.q3 = four_of(&reader, 3u);
  }
  if (reach > 16u) {
    all.q4 = four_of(&reader, 4u);
  }
  if (reach > 20u) {
    all.q5 = four_of(&reader, 5u);
  }
  if (reach > 24u) {
    all.q6 = four_of(&reader, 6u);
  }
  if (reach > 28u) {
    all.q7 = four_of(&reader, 7u);
  }
  if (reach > 32u) {
    all.q8 = four_of(&reader, 8u);
  }
  all.q0 = without_before(all.q0, column, all.q1.a);
  return all;
}

// The maxima of four windows in twelve neighbours.
fn quad_of_windows(p: Quad, q: Quad, r: Quad) -> Quad {
  var best = p;
  if (STRIDE_2 == 1u) {
    if (KERNEL_2 > 1u) {
      best = combine_quads(best, Quad(p.b, p.c, p.d, q.a));
    }
    if (KERNEL_2 > 2u) {
      best = combine_quads(best, Quad(p.c, p.d, q.a, q.b));
    }
    if (KERNEL_2 > 3u) {
      best = combine_quads(best, Quad(p.d, q.a, q.b, q.c));
    }
    if (KERNEL_2 > 4u) {
      best = combine_quads(best, q);
    }
  } else {
    best = Quad(p.a, p.c, q.a, q.c);
    if (KERNEL_2 > 1u) {
      best = combine_quads(best, Quad(p.b, p.d, q.b, q.d));
    }
    if (KERNEL_2 > 2u) {
      best = combine_quads(best, Quad(p.c, q.a, q.c, r.a));
    }
    if (KERNEL_2 > 3u) {
      best = combine_quads(best, Quad(p.d, q.b, q.d, r.b));
    }
    if (KERNEL_2 > 4u) {
      best = combine_quads(best, Quad(q.a, q.c, r.a, r.c));
    }
  }
  return best;
}

// The first elements of four windows.
fn firsts(p: Elements, q: Elements) -> Elements {
  var first = p;
  if (STRIDE_2 == 2u) {
    first = Elements(p.a, p.c, q.a, q.c);
  }
  return first;
}

// Four elements as accumulators: quad `number` from a column on, if windows reach it.
fn lifted_four(raws: Elements, number: u32, line: u32, column: i32, order: u32) -> Quad {
  var four: Quad;
  if (REACH > 4u * number) {
    four = lifted_at(raws, line + pool.x_first, column + i32(4u * number), order + 4u * number, 1u);
  }
  return four;
}

// The windows of a line from a column on. `at_end` tells whether windows may reach beyond the line's end.
fn line_of_windows(line: u32, column: i32, order: u32, at_end: bool) -> Line {
  var all = fours_at(line + u32(column), column, REACH);
  if (BEHIND > 0u && at_end) {
    all = all_without_behind(all, column);
  }
  let e0 = lifted_four(all.q0, 0u, line, column, order);
  let e1 = lifted_four(all.q1, 1u, line, column, order);
  let e2 = lifted_four(all.q2, 2u, line, column, order);
  let e3 = lifted_four(all.q3, 3u, line, column, order);
  let e4 = lifted_four(all.q4, 4u, line, column, order);
  let e5 = lifted_four(all.q5, 5u, line, column, order);
  let e6 = lifted_four(all.q6, 6u, line, column, order);
  let e7 = lifted_four(all.q7, 7u, line, column, order);
  let e8 = lifted_four(all.q8, 8u, line, column, order);
  var row: Line;
  row.w0 = Windows(quad_of_windows(e0, e1, e2), firsts(all.q0, all.q1));
  if (STRIDE_2 == 1u) {
    if (QUADS > 1u) {
      row.w1 = Windows(quad_of_windows(e1, e2, e3), firsts(all.q1, all.q2));
    }
    if (QUADS > 2u) {
      row.w2 = Windows(quad_of_windows(e2, e3, e4), firsts(all.q2, all.q3));
    }
    if (QUADS > 3u) {
      row.w3 = Windows(quad_of_windows(e3, e4, e5), firsts(all.q3, all.q4));
    }
  } else {
    if (QUADS > 1u) {
      row.w1 = Windows(quad_of_windows(e2, e3, e4), firsts(all.q2, all.q3));
    }
    if (QUADS > 2u) {
      row.w2 = Windows(quad_of_windows(e4, e5, e6), firsts(all.q4, all.q5));
    }
    if (QUADS > 3u) {
      row.w3 = Windows(quad_of_windows(e6, e7, e8), firsts(all.q6, all.q7));
    }
  }
  return row;
}

// The first windows of a line: those whose outputs the last word of the line before can hold.
fn head_of_windows(line: u32, order: u32) -> Windows {
  let column = -i32(PAD_2);
  let all = fours_at(line + u32(column), column, HEAD_REACH);
  let e0 = lifted_four(all.q0, 0u, line, column, order);
  let e1 = lifted_four(all.q1, 1u, line, column, order);
  let e2 = lifted_four(all.q2, 2u, line, column, order);
  return Windows(quad_of_windows(e0, e1, e2), firsts(all.q0, all.q1));
}

// Combines the maxima of two lines of X; `p` precedes `q`.
fn join_windows(p: Windows, q: Windows) -> Windows {
  return Windows(join_quads(p.best, q.best), p.first);
}

fn join_lines(p: Line, q: Line) -> Line {
  var row = p;
  row.w0 = join_windows(p.w0, q.w0);
  if (QUADS > 1u) {
    row.w1 = join_windows(p.w1, q.w1);
  }
  if (QUADS > 2u) {
    row.w2 = join_windows(p.w2, q.w2);
  }
  if (QUADS > 3u) {
    row.w3 = join_windows(p.w3, q.w3);
  }
  return row;
}
