// Storage of 64-bit elements: a pair of words, the low one first.
// provides: Raw, Word, ZERO, ZERO_WORD, OUTPUTS, insert, extract
// requires: nothing
alias Raw = vec2<u32>;
alias Word = vec2<u32>;
// Other parts use these constants, not `Raw()` and `Word()`: some translators define a function for each alias,
// although both are one type.
const ZERO: Raw = vec2<u32>(0u, 0u);
const ZERO_WORD: Word = vec2<u32>(0u, 0u);
const OUTPUTS: u32 = 1u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}
