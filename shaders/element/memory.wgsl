// X as an array of words.
// provides: x, load
// requires: Raw, Word, OUTPUTS, extract
@group(0) @binding(1) var<storage, read> x: array<Word>;

fn load(position: u32) -> Raw {
  return extract(x[position / OUTPUTS], position % OUTPUTS);
}
