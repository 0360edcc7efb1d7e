// The records of windows that begin with a NaN.

//// flags: Whether windows begin with a NaN: a flag for each group of dispatches.
// provides: flags
@group(0) @binding(16) var<storage, read_write> flags: array<atomic<u32>>;

//// flags_read: The records of the first pass about windows that begin with a NaN: a flag per group of dispatches, or a
// note per invocation.
// provides: flags_in
@group(0) @binding(16) var<storage, read> flags_in: array<u32>;
