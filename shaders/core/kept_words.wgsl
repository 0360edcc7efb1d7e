// Elements that a pass before has kept, in a word each or, of 64 bits, in a pair of words.
// provides: kept
// requires: Raw
@group(0) @binding(12) var<storage, read> kept: array<Raw>;
