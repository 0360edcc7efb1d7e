// Storage of 32-bit elements: one to a word.
// provides: Raw, Word, ZERO, ZERO_WORD, OUTPUTS, insert, extract
// requires: nothing
alias Raw = u32;
alias Word = u32;
// Other parts use these constants, not `Raw()` and `Word()`: some translators define a function for each alias,
// although both are one type.
const ZERO: Raw = 0u;
const ZERO_WORD: Word = 0u;
const OUTPUTS: u32 = 1u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}
