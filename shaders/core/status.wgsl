// What an unpool reports of bad indices: how many, the complement of the first one's position, and its value.
// provides: status, STATUS_COUNT, STATUS_FIRST, STATUS_LOW, STATUS_HIGH
// requires: nothing
const STATUS_COUNT: u32 = 0u;
// Complemented, so that the largest is the first and zero says that there is none.
const STATUS_FIRST: u32 = 1u;
const STATUS_LOW: u32 = 2u;
const STATUS_HIGH: u32 = 3u;

@group(0) @binding(8) var<storage, read_write> status: array<atomic<u32>, 4>;
