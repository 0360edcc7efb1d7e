// The owner of each output element: one more than the rank of the last source that claims it, or zero.
// provides: owners
// requires: nothing
@group(0) @binding(7) var<storage, read_write> owners: array<atomic<u32>>;
