// The records of the first pass about windows that begin with a NaN: a flag per group of dispatches, or a note per
// invocation.
// provides: flags_in
// requires: nothing
@group(0) @binding(16) var<storage, read> flags_in: array<u32>;
