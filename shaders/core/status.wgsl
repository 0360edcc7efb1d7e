// The report of an unpool or of an index conversion: the number of bad indices, the complement of the first bad index's
// position, its value, and, for an unpool, whether any index lies outside its source's window.
// provides: status, STATUS_WORDS, STATUS_COUNT, STATUS_FIRST, STATUS_LOW, STATUS_HIGH, STATUS_OUT_OF_WINDOW
// requires: nothing
const STATUS_COUNT: u32 = 0u;
// Complemented, so that an atomic maximum finds the first position, and zero means that no index is bad.
const STATUS_FIRST: u32 = 1u;
const STATUS_LOW: u32 = 2u;
const STATUS_HIGH: u32 = 3u;
const STATUS_OUT_OF_WINDOW: u32 = 4u;
const STATUS_WORDS: u32 = 8u;

@group(0) @binding(8) var<storage, read_write> status: array<atomic<u32>, STATUS_WORDS>;
