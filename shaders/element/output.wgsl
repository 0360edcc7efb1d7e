// Y as an array of words.
// provides: y
// requires: Word
@group(0) @binding(2) var<storage, read_write> y: array<Word>;
