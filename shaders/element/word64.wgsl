// Storage of 64-bit elements: a pair of words, the low one first.
// provides: Raw, Word, OUTPUTS, load, insert, extract, x, y
// requires: nothing
alias Raw = vec2<u32>;
alias Word = vec2<u32>;
const OUTPUTS: u32 = 1u;

@group(0) @binding(1) var<storage, read> x: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec2<u32>>;

fn load(position: u32) -> Raw {
  return x[position];
}

fn insert(word: Word, lane: u32, raw: Raw) -> Word {
  return raw;
}

fn extract(word: Word, lane: u32) -> Raw {
  return word;
}
