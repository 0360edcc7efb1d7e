// Scratch memory of an unpool: zero before a run, and zero again after it.
// provides: owners, Owners, ANY_OUTSIDE
// requires: nothing
// Set in `any_outside` if any index lies outside its source's window.
const ANY_OUTSIDE: u32 = 0x80000000u;

struct Owners {
  // ANY_OUTSIDE, and the number of workgroups of the last step that have read it.
  any_outside: atomic<u32>,
  // The number of bad indices, and the complement of the first one's position.
  bad: atomic<u32>,
  first_bad: atomic<u32>,
  reserved: u32,
  // For each element of Y one more than the rank of the last source that claims it, or zero.
  each: array<atomic<u32>>,
}

@group(0) @binding(7) var<storage, read_write> owners: Owners;
