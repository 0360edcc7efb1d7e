// Scratch memory of an unpool: zero before a run, and zero again after it.
// provides: owners, Owners
// requires: nothing
struct Owners {
  // Whether any index lies outside its source's window, in the highest bit, and the workgroups that have seen that.
  told: atomic<u32>,
  // The number of bad indices, and the complement of the first one's position.
  bad: atomic<u32>,
  first_bad: atomic<u32>,
  reserved: u32,
  // For each element of Y one more than the rank of the last source that claims it, or zero.
  each: array<atomic<u32>>,
}

@group(0) @binding(7) var<storage, read_write> owners: Owners;
