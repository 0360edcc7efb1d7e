// Storage of 16-bit elements: two to a word, the first in the low half.
// provides: Raw, Word, OUTPUTS, insert, extract
// requires: nothing
alias Raw = u32;
alias Word = u32;
const OUTPUTS: u32 = 2u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * 16u));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * 16u)) & 0xffffu;
}
