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

// The windows of neighbouring outputs.
alias Line = array<Windows, QUADS>;

// Quads of neighbouring elements. Windows cover fewer than nine.
alias Fours = array<Elements, 9>;

// The number of elements that the windows of a line cover, and that the windows of a head cover; and in quads.
const REACH: u32 = (OUTPUTS_SEEN - 1u) * STRIDE_2 + KERNEL_2;
const HEAD_REACH: u32 = (OUTPUTS - 2u) * STRIDE_2 + KERNEL_2;
const REACH_OF_QUADS: u32 = (REACH + 3u) / 4u;

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
  all[0] = without_behind(all[0], 0, end, all[0].a);
  for (var quad = 1u; quad < REACH_OF_QUADS; quad++) { // unrolled
    all[quad] = without_behind(all[quad], i32(4u * quad), end, all[quad - 1u].d);
  }
  return all;
}

fn fours_at(position: u32, column: i32, reach: u32) -> Fours {
  // The first element may be the last element of its word.
  let before = select(OUTPUTS - 1u, 0u, X_ALIGNED != 0u);
  var reader = reader_at(position, (reach + before + OUTPUTS - 1u) / OUTPUTS);
  var all: Fours;
  for (var quad = 0u; quad < 9u; quad++) { // unrolled
    if (4u * quad < reach) {
      all[quad] = four_of(&reader, quad);
    }
  }
  all[0] = without_before(all[0], column, all[1].a);
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
  var quads: array<Quad, 9>;
  for (var quad = 0u; quad < REACH_OF_QUADS; quad++) { // unrolled
    quads[quad] = lifted_four(all[quad], quad, line, column, order);
  }
  var row: Line;
  for (var quad = 0u; quad < QUADS; quad++) { // unrolled
    const FIRST = quad * STRIDE_2;
    let best = quad_of_windows(quads[FIRST], quads[FIRST + 1u], quads[FIRST + 2u]);
    row[quad] = Windows(best, firsts(all[FIRST], all[FIRST + 1u]));
  }
  return row;
}

// The first windows of a line: those whose outputs the last word of the line before can hold.
fn head_of_windows(line: u32, order: u32) -> Windows {
  let column = -i32(PAD_2);
  let all = fours_at(line + u32(column), column, HEAD_REACH);
  let e0 = lifted_four(all[0], 0u, line, column, order);
  let e1 = lifted_four(all[1], 1u, line, column, order);
  let e2 = lifted_four(all[2], 2u, line, column, order);
  return Windows(quad_of_windows(e0, e1, e2), firsts(all[0], all[1]));
}

// Combines the maxima of two lines of X; `p` precedes `q`.
fn join_windows(p: Windows, q: Windows) -> Windows {
  return Windows(join_quads(p.best, q.best), p.first);
}

fn join_lines(p: Line, q: Line) -> Line {
  var row = p;
  for (var quad = 0u; quad < QUADS; quad++) { // unrolled
    row[quad] = join_windows(p[quad], q[quad]);
  }
  return row;
}
