// Elements smaller than a word, of a line of X that may begin anywhere in a word: whole words are loaded and shifted.
// An element outside the line is replaced by the nearest element inside, which belongs to the same window because the
// dilation is one.
//
//   words of X     | a b c d | e f g h | i j k l |      8-bit elements, the line's first column in the middle of a word
//   shifted            [ c d e f ] [ g h i j ]
// provides: x, line_elements, alternating_elements
// requires: Elements, Quad, Row, row_from, lifted, clamp_tap, pool, extract, OUTPUTS, SLIDES, KERNEL_2, STRIDE_2, QUADS
@group(0) @binding(1) var<storage, read> x: array<u32>;

// The elements of the first tap, and the elements that enter as the windows slide.
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
const ELEMENT_BITS: u32 = 32u / OUTPUTS;

// The word with the first element, and the bits before the element in it.
struct Begin {
  word: u32,
  bits: u32,
}

// Word `number` of the shifted line. The contents of words outside the binding are not used.
fn shifted_word(begin: Begin, number: u32) -> u32 {
  let last = arrayLength(&x) - 1u;
  let low = x[min(begin.word + number, last)];
  let high = x[min(begin.word + number + 1u, last)];
  return (low >> begin.bits) | ((high << 1u) << (31u - begin.bits));
}

fn four_from(begin: Begin, number: u32) -> Elements {
  var first = shifted_word(begin, number);
  var second = first;
  if (OUTPUTS == 2u) {
    first = shifted_word(begin, number * 2u);
    second = shifted_word(begin, number * 2u + 1u);
  }
  // With two elements per word, the third of four is the first of the second word.
  return Elements(extract(first, 0u), extract(first, 1u), extract(second, 2u % OUTPUTS), extract(second, 2u % OUTPUTS + 1u));
}

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
  let position = line + u32(column);
  // Before the binding's first element, word numbers wrap; the words read there are not used.
  let begin = Begin(u32(i32(position) >> (OUTPUTS / 2u)), position % OUTPUTS * ELEMENT_BITS);
  var all: Neighbours;
  all.q0 = four_from(begin, 0u);
  if (FOURS > 1u) {
    all.q1 = four_from(begin, 1u);
  }
  if (FOURS > 2u) {
    all.q2 = four_from(begin, 2u);
  }
  if (FOURS > 3u) {
    all.q3 = four_from(begin, 3u);
  }
  if (FOURS > 4u) {
    all.q4 = four_from(begin, 4u);
  }
  if (FOURS > 5u) {
    all.q5 = four_from(begin, 5u);
  }
  if (FOURS > 5u) {
    all.q5 = without_before(all.q5, column + 20, all.q5.d);
  }
  if (FOURS > 4u) {
    all.q4 = without_before(all.q4, column + 16, all.q5.a);
  }
  if (FOURS > 3u) {
    all.q3 = without_before(all.q3, column + 12, all.q4.a);
  }
  if (FOURS > 2u) {
    all.q2 = without_before(all.q2, column + 8, all.q3.a);
  }
  if (FOURS > 1u) {
    all.q1 = without_before(all.q1, column + 4, all.q2.a);
  }
  all.q0 = without_before(all.q0, column, all.q1.a);
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

// Four elements `step` columns apart.
fn lifted_at(raws: Elements, column: i32, order: u32, step: u32) -> Quad {
  let apart = i32(step);
  let extent = pool.axes[2].input;
  let columns = vec4<u32>(
    clamp_tap(column, extent, 1u),
    clamp_tap(column + apart, extent, 1u),
    clamp_tap(column + 2 * apart, extent, 1u),
    clamp_tap(column + 3 * apart, extent, 1u),
  );
  return lifted(raws, columns, order, step);
}

fn row_at(low: Elements, high: Elements, column: i32, order: u32, step: u32) -> Row {
  let first = lifted_at(low, column, order, step);
  var second = first;
  if (QUADS > 1u) {
    second = lifted_at(high, column + 4 * i32(step), order + 4u * step, step);
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
    next = lifted_at(following, column + i32(behind), order + behind, 1u);
  }
  if (SLIDES > 4u) {
    next_4 = lifted_at(following_4, column + i32(behind) + 4, order + behind + 4u, 1u);
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
    next_even = lifted_at(following, far, order + behind, 2u);
  }
  if (KERNEL_2 > 3u) {
    next_odd = lifted_at(following_odd, far + 1, order + behind + 1u, 2u);
  }
  return AlternatingElements(even, odd, next_even, next_odd);
}
