// Storage of 32-bit elements: one to a word.
// provides: Raw, Word, OUTPUTS, insert, extract
// requires: nothing
alias Raw = u32;
alias Word = u32;
const OUTPUTS: u32 = 1u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}
