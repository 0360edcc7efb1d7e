// How elements lie in words of memory, by their size. Other parts use the constants, not `Raw()` and `Word()`: some
// translators define a function for each alias, although both are one type.

//// word8 when BYTES == 1: Four to a word, the first in the lowest byte.
// provides: SIGN, ALL, OUTPUTS
const SIGN: u32 = 0x80u;
const ALL: u32 = 0xffu;
const OUTPUTS: u32 = 4u;

//// word16 when BYTES == 2: Two to a word, the first in the low half.
// provides: SIGN, ALL, OUTPUTS
const SIGN: u32 = 0x8000u;
const ALL: u32 = 0xffffu;
const OUTPUTS: u32 = 2u;

//// word32 when BYTES == 4: One to a word.
// provides: SIGN, ALL
const SIGN: u32 = 0x80000000u;
const ALL: u32 = 0xffffffffu;

//// words when BYTES <= 4: Elements of up to 32 bits.
// provides: Raw, Word, ZERO, ZERO_WORD
alias Raw = u32;
alias Word = u32;
const ZERO: Raw = 0u;
const ZERO_WORD: Word = 0u;

//// word64 when BYTES == 8: A pair of words, the low one first.
// provides: Raw, Word, ZERO, ZERO_WORD, SIGN, ALL
alias Raw = vec2<u32>;
alias Word = vec2<u32>;
const ZERO: Raw = vec2<u32>(0u, 0u);
const ZERO_WORD: Word = vec2<u32>(0u, 0u);
const SIGN: Raw = vec2<u32>(0u, 0x80000000u);
const ALL: Raw = vec2<u32>(0xffffffffu, 0xffffffffu);

//// shared_words when BYTES < 4: Several elements to a word.
// provides: ELEMENT_BITS, insert, extract
// requires: Raw, Word, OUTPUTS
const ELEMENT_BITS: u32 = 32u / OUTPUTS;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * ELEMENT_BITS));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * ELEMENT_BITS)) & ((1u << ELEMENT_BITS) - 1u);
}

//// whole_words when BYTES >= 4: One element to a word, or to a pair of words.
// provides: OUTPUTS, insert, extract
// requires: Raw, Word
const OUTPUTS: u32 = 1u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}
