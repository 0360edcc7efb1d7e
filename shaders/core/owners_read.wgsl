// Who owns each output element, once all have claimed.
// provides: owners
// requires: nothing
@group(0) @binding(7) var<storage, read> owners: array<u32>;
