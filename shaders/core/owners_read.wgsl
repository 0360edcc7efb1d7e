// The owner of each output element, after all claims.
// provides: owners
// requires: nothing
@group(0) @binding(7) var<storage, read> owners: array<u32>;
