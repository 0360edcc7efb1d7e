// The owner of each output element.
// provides: owners

//// owners: One more than the rank of the last source that claims it, or zero.
@group(0) @binding(7) var<storage, read_write> owners: array<atomic<u32>>;

//// owners_read: The same after all claims, for kernels that only read it.
@group(0) @binding(7) var<storage, read> owners: array<u32>;
