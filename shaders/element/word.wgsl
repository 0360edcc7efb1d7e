// How elements lie in words of memory, by their size. Other parts use the constants, not `Raw()` and `Word()`: some
// translators define a function for each alias, although both are one type.
// provides: Raw, Word, ZERO, ZERO_WORD, SIGN, OUTPUTS, insert, extract

//// word8: Four to a word, the first in the lowest byte.
alias Raw = u32;
alias Word = u32;
const ZERO: Raw = 0u;
const ZERO_WORD: Word = 0u;
const SIGN: Raw = 0x80u;
const OUTPUTS: u32 = 4u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * 8u));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * 8u)) & 0xffu;
}

//// word16: Two to a word, the first in the low half.
alias Raw = u32;
alias Word = u32;
const ZERO: Raw = 0u;
const ZERO_WORD: Word = 0u;
const SIGN: Raw = 0x8000u;
const OUTPUTS: u32 = 2u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * 16u));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * 16u)) & 0xffffu;
}

//// word32: One to a word.
alias Raw = u32;
alias Word = u32;
const ZERO: Raw = 0u;
const ZERO_WORD: Word = 0u;
const SIGN: Raw = 0x80000000u;
const OUTPUTS: u32 = 1u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}

//// word64: A pair of words, the low one first.
alias Raw = vec2<u32>;
alias Word = vec2<u32>;
const ZERO: Raw = vec2<u32>(0u, 0u);
const ZERO_WORD: Word = vec2<u32>(0u, 0u);
const SIGN: Raw = vec2<u32>(0u, 0x80000000u);
const OUTPUTS: u32 = 1u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}
