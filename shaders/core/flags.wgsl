// Whether windows begin with a NaN: a flag for each group of dispatches.
// provides: flags
// requires: nothing
@group(0) @binding(16) var<storage, read_write> flags: array<atomic<u32>>;
