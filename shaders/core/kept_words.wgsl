// Elements in scratch memory from an earlier pass, one per word, or one per pair of words for 64-bit types.
// provides: kept
// requires: Raw
@group(0) @binding(12) var<storage, read> kept: array<Raw>;
