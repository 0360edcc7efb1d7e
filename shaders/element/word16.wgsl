// Storage of 16-bit elements: two to a word, the first in the low half.
// provides: Raw, Word, OUTPUTS, load, insert, extract, x, y
// requires: nothing
alias Raw = u32;
alias Word = u32;
const OUTPUTS: u32 = 2u;

@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

fn load(position: u32) -> Raw {
  return (x[position >> 1u] >> ((position & 1u) * 16u)) & 0xffffu;
}

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * 16u));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * 16u)) & 0xffffu;
}
