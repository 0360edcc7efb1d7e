// Elements smaller than a word, of a line of X that may begin anywhere in a word: whole words are loaded and shifted.
//
//   words of X     | a b c d | e f g h | i j k l |      8-bit elements, the line's first column in the middle of a word
//   shifted            [ c d e f ] [ g h i j ]

//// four_in_words: Four neighbouring elements, their words, and their positions.
// provides: four_in, Two, packed, lifted_at
// requires: Elements, Quad, lifted, clamp_tap, pool, insert, extract, ZERO_WORD, OUTPUTS
// The elements of two words, or of one word, which then is both.
fn four_in(first: u32, second: u32) -> Elements {
  // With two elements per word, the third of four is the first of the second word.
  return Elements(extract(first, 0u), extract(first, 1u), extract(second, 2u % OUTPUTS), extract(second, 2u % OUTPUTS + 1u));
}

// Four elements in two words, or in one word, which then is both `low` and `high`.
struct Two {
  low: u32,
  high: u32,
}

fn packed(four: Elements) -> Two {
  var two: Two;
  if (OUTPUTS == 4u) {
    two.low = insert(insert(insert(insert(ZERO_WORD, 0u, four.a), 1u, four.b), 2u, four.c), 3u, four.d);
    two.high = two.low;
  } else {
    two.low = insert(insert(ZERO_WORD, 0u, four.a), 1u, four.b);
    two.high = insert(insert(ZERO_WORD, 0u, four.c), 1u, four.d);
  }
  return two;
}

// Four elements `step` columns apart as accumulators, with their positions from that of the line on.
fn lifted_at(raws: Elements, line: u32, column: i32, order: u32, step: u32) -> Quad {
  let apart = i32(step);
  let extent = pool.axes[2].input;
  let columns = vec4<u32>(
    line + clamp_tap(column, extent, 1u),
    line + clamp_tap(column + apart, extent, 1u),
    line + clamp_tap(column + 2 * apart, extent, 1u),
    line + clamp_tap(column + 3 * apart, extent, 1u),
  );
  return lifted(raws, columns, order, step);
}

//// odd_words: Words that are read in order: each is loaded once.
// provides: x, Reader, reader_at, shifted_word
// requires: ELEMENT_BITS, OUTPUTS, X_ALIGNED
@group(0) @binding(1) var<storage, read> x: array<u32>;

// A reader of consecutive words of X.
struct Reader {
  word: u32,
  // The bits before the first element, and the latest loaded word.
  bits: u32,
  low: u32,
  // The number of words to read: words beyond are not loaded.
  words: u32,
}

fn reader_at(position: u32, words: u32) -> Reader {
  // Before the binding's first element, word numbers wrap; the words read there are not used.
  let word = u32(i32(position) >> (OUTPUTS / 2u));
  return Reader(word, position % OUTPUTS * ELEMENT_BITS, x[word], words);
}

// The next shifted word; callers ask for the numbers 0, 1, 2, .. in order.
fn shifted_word(reader: ptr<function, Reader>, number: u32) -> u32 {
  let low = (*reader).low;
  if (number + 1u < (*reader).words) {
    (*reader).low = x[(*reader).word + number + 1u];
  }
  var word = low;
  if (X_ALIGNED == 0u) {
    word = (low >> (*reader).bits) | (((*reader).low << 1u) << (31u - (*reader).bits));
  }
  return word;
}

//// odd_pairs: As `odd_words`, for an X whose size is a multiple of eight bytes: words are loaded in pairs.
//
//   pairs of X     | p p | p p | p p |
//   words taken        [ ] [ ] [ ]                      from an odd word on
// provides: x, Reader, reader_at, shifted_word
// requires: ELEMENT_BITS, OUTPUTS, X_ALIGNED
@group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;

// A reader of consecutive words of X.
struct Reader {
  pair: u32,
  // Whether the first word is the second word of a pair.
  odd: bool,
  // The bits before the first element, the next word, and the latest loaded pair.
  bits: u32,
  low: u32,
  last: vec2<u32>,
  // The number of words to read: words beyond are not loaded.
  words: u32,
}

fn reader_at(position: u32, words: u32) -> Reader {
  // Before the binding's first element, word numbers wrap; the words read there are not used.
  let word = u32(i32(position) >> (OUTPUTS / 2u));
  let pair = u32(i32(word) >> 1u);
  let odd = (word & 1u) != 0u;
  let last = x[pair];
  return Reader(pair, odd, position % OUTPUTS * ELEMENT_BITS, select(last.x, last.y, odd), last, words);
}

// The next shifted word; callers ask for the numbers 0, 1, 2, .. in order.
fn shifted_word(reader: ptr<function, Reader>, number: u32) -> u32 {
  let low = (*reader).low;
  let before = (*reader).last;
  if (number % 2u == 0u) {
    if (number < (*reader).words) {
      (*reader).last = x[(*reader).pair + number / 2u + 1u];
    }
    (*reader).low = select(before.y, (*reader).last.x, (*reader).odd);
  } else {
    (*reader).low = select(before.x, before.y, (*reader).odd);
  }
  var word = low;
  if (X_ALIGNED == 0u) {
    word = (low >> (*reader).bits) | (((*reader).low << 1u) << (31u - (*reader).bits));
  }
  return word;
}
