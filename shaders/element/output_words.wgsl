// Y as an array of words, each of one or several elements.
// provides: y
// requires: nothing
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
