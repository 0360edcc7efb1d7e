// As row/odd_words.wgsl, where the bytes of X are a multiple of eight: words are loaded by twos.
//
//   pairs of X     | p p | p p | p p |
//   words taken        [ ] [ ] [ ]                      from an odd word on
// provides: x, Reader, reader_at, shifted_word
// requires: ELEMENT_BITS, OUTPUTS, X_ALIGNED
@group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;

// A place in X from which on words are taken.
struct Reader {
  pair: u32,
  // Whether the first word is the second one of a pair.
  odd: bool,
  // Bits before the first element, the word that is taken next, and the pair that was loaded last.
  bits: u32,
  low: u32,
  last: vec2<u32>,
  // Words that are looked at: others are not loaded.
  words: u32,
}

fn reader_at(position: u32, words: u32) -> Reader {
  // Before the first element of the binding, numbers of words wrap: what is read there does not count.
  let word = u32(i32(position) >> (OUTPUTS / 2u));
  let pair = u32(i32(word) >> 1u);
  let odd = (word & 1u) != 0u;
  let last = x[pair];
  return Reader(pair, odd, position % OUTPUTS * ELEMENT_BITS, select(last.x, last.y, odd), last, words);
}

// The words in their order, from number 0 on.
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
