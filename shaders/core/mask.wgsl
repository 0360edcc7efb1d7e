// Bits of windows that begin with a NaN, or flags of groups of dispatches in which there is one.
// provides: mask
// requires: nothing
@group(0) @binding(16) var<storage, read_write> mask: array<atomic<u32>>;
