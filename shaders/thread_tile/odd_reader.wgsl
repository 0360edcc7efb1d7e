// Words of X from any element on.
// provides: x, Reader, reader_at, shifted_word
// requires: ELEMENT_BITS, OUTPUTS, X_ALIGNED

//// odd_words: Each word of X is loaded once, and shifted so that the first element comes first.
//
//   words of X     | a b c d | e f g h | i j k l |      8-bit elements, the first one in the middle of a word
//   shifted            [ c d e f ] [ g h i j ]
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
