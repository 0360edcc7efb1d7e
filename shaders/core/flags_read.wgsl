// What the first pass has told of windows that begin with a NaN: a flag for each group of dispatches, or a note of each
// invocation's windows.
// provides: flags_in
// requires: nothing
@group(0) @binding(16) var<storage, read> flags_in: array<u32>;
