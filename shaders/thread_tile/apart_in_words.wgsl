// The maxima of neighbouring windows in one line of X, for dilated windows of stride 1 and elements smaller than a
// word. The same tap of neighbouring windows is contiguous in X, so that whole words are loaded and shifted.
//
//   words of X     | a b c d | e f g h | i j k l |      8-bit elements, the first window's tap in the middle of a word
//   shifted            [ c d e f ] [ g h i j ]
//
// A tap that follows a tap in the begin padding restarts its window; a tap beyond the line's end repeats the previous
// tap.
// provides: x, row_windows
// requires: Acc, Raw, Elements, Quad, Row, row_from, lifted, choose, combine, extract, pool, OUTPUTS, KERNEL_2, DILATION_2, QUADS
@group(0) @binding(1) var<storage, read> x: array<u32>;

const ELEMENT_BITS: u32 = 32u / OUTPUTS;

// The word of X that begins `bits` bits after the begin of word `word`. The contents of words outside the binding are
// not used.
fn shifted_word(word: u32, bits: u32) -> u32 {
  let last = arrayLength(&x) - 1u;
  let low = x[min(word, last)];
  let high = x[min(word + 1u, last)];
  return (low >> bits) | ((high << 1u) << (31u - bits));
}

fn four_from(word: u32, bits: u32) -> Elements {
  let first = shifted_word(word, bits);
  var second = first;
  if (OUTPUTS == 2u) {
    second = shifted_word(word + 1u, bits);
  }
  // With two elements per word, the third of four is the first of the second word.
  return Elements(extract(first, 0u), extract(first, 1u), extract(second, 2u % OUTPUTS), extract(second, 2u % OUTPUTS + 1u));
}

// The partial maxima of four windows.
struct Four {
  best: Quad,
  first: Elements,
  // The latest tap.
  tap: Quad,
}

// A window's partial maximum, its first element, and its latest tap.
struct One {
  best: Acc,
  first: Raw,
  tap: Acc,
}

fn with_tap(before: One, element: Acc, raw: Raw, column: i32) -> One {
  let begins = column < i32(DILATION_2);
  let tap = choose(element, before.tap, column < i32(pool.axes[2].input));
  return One(choose(tap, combine(before.best, tap), begins), select(before.first, raw, begins), tap);
}

fn with_taps(four: Four, elements: Quad, raws: Elements, column: i32) -> Four {
  let a = with_tap(One(four.best.a, four.first.a, four.tap.a), elements.a, raws.a, column);
  let b = with_tap(One(four.best.b, four.first.b, four.tap.b), elements.b, raws.b, column + 1);
  let c = with_tap(One(four.best.c, four.first.c, four.tap.c), elements.c, raws.c, column + 2);
  let d = with_tap(One(four.best.d, four.first.d, four.tap.d), elements.d, raws.d, column + 3);
  return Four(Quad(a.best, b.best, c.best, d.best), Elements(a.first, b.first, c.first, d.first), Quad(a.tap, b.tap, c.tap, d.tap));
}

struct Fours {
  low: Four,
  high: Four,
}

fn four_after(four: Four, line: u32, column: i32, order: u32, tap: u32) -> Four {
  let at = column + i32(tap * DILATION_2);
  let position = line + u32(at);
  // Before the binding's first element, word numbers wrap; the words read there are not used.
  let raws = four_from(u32(i32(position) >> (OUTPUTS / 2u)), position % OUTPUTS * ELEMENT_BITS);
  let columns = vec4<u32>(u32(at), u32(at + 1), u32(at + 2), u32(at + 3));
  let elements = lifted(raws, columns, order + tap * DILATION_2, 1u);
  var next = Four(elements, raws, elements);
  if (tap > 0u) {
    next = with_taps(four, elements, raws, at);
  }
  return next;
}

fn after(fours: Fours, line: u32, column: i32, order: u32, tap: u32) -> Fours {
  var next = fours;
  next.low = four_after(fours.low, line, column, order, tap);
  if (QUADS > 1u) {
    next.high = four_after(fours.high, line, column + 4, order + 4u, tap);
  }
  return next;
}

fn row_windows(line: u32, column: i32, order: u32) -> Row {
  var fours: Fours;
  fours = after(fours, line, column, order, 0u);
  if (KERNEL_2 > 1u) {
    fours = after(fours, line, column, order, 1u);
  }
  if (KERNEL_2 > 2u) {
    fours = after(fours, line, column, order, 2u);
  }
  if (KERNEL_2 > 3u) {
    for (var tap = 3u; tap < KERNEL_2; tap++) {
      fours = after(fours, line, column, order, tap);
    }
  }
  return row_from(fours.low.best, fours.high.best, fours.low.first, fours.high.first);
}
