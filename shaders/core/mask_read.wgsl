// What the first pass has told of windows that begin with a NaN.
// provides: mask_in
// requires: nothing
@group(0) @binding(16) var<storage, read> mask_in: array<u32>;
