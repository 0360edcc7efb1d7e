// Storage of 16-bit elements: two to a word, the first in the low half.
// provides: Raw, Word, ZERO, ZERO_WORD, OUTPUTS, insert, extract
// requires: nothing
alias Raw = u32;
alias Word = u32;
// Other parts use these constants, not `Raw()` and `Word()`: some translators define a function for each alias,
// although both are one type.
const ZERO: Raw = 0u;
const ZERO_WORD: Word = 0u;
const OUTPUTS: u32 = 2u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * 16u));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * 16u)) & 0xffffu;
}
