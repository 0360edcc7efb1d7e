// Storage of 8-bit elements: four to a word, the first in the lowest byte.
// provides: Raw, Word, OUTPUTS, insert, extract
// requires: nothing
alias Raw = u32;
alias Word = u32;
const OUTPUTS: u32 = 4u;

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * 8u));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * 8u)) & 0xffu;
}
