// Y as an array of pairs of words, each of one element.
// provides: y
// requires: nothing
@group(0) @binding(2) var<storage, read_write> y: array<vec2<u32>>;
