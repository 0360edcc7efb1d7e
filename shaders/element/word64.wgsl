// Storage of 64-bit elements: a pair of words, the low one first.
// provides: Raw, Word, OUTPUTS, insert, extract
// requires: nothing
alias Raw = vec2<u32>;
alias Word = vec2<u32>;
const OUTPUTS: u32 = 1u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}
