// Storage of 8-bit elements: four to a word, the first in the lowest byte.
// provides: Raw, Word, OUTPUTS, load, insert, extract, x, y
// requires: nothing
alias Raw = u32;
alias Word = u32;
const OUTPUTS: u32 = 4u;

@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

fn load(position: u32) -> Raw {
  return (x[position >> 2u] >> ((position & 3u) * 8u)) & 0xffu;
}

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return word | (raw << (lane * 8u));
}

fn extract(word: Word, lane: u32) -> Raw {
  return (word >> (lane * 8u)) & 0xffu;
}
