// What an unpool reports: bad indices (how many, the complement of the first one's position, its value), and whether an index
// lay outside its own window.
// provides: status, STATUS_WORDS, STATUS_COUNT, STATUS_FIRST, STATUS_LOW, STATUS_HIGH, STATUS_FOREIGN
// requires: nothing
const STATUS_COUNT: u32 = 0u;
// Complemented, so that the largest is the first and zero says that there is none.
const STATUS_FIRST: u32 = 1u;
const STATUS_LOW: u32 = 2u;
const STATUS_HIGH: u32 = 3u;
const STATUS_FOREIGN: u32 = 4u;
const STATUS_WORDS: u32 = 8u;

@group(0) @binding(8) var<storage, read_write> status: array<atomic<u32>, STATUS_WORDS>;
