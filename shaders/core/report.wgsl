// The report of an unpool: the number of bad indices, the complement of the first bad index's position, and its value.
// provides: report, REPORT_WORDS, REPORT_COUNT, REPORT_FIRST, REPORT_LOW, REPORT_HIGH
// requires: nothing
const REPORT_COUNT: u32 = 0u;
// Complemented, so that an atomic maximum finds the first position, and zero means that no index is bad.
const REPORT_FIRST: u32 = 1u;
const REPORT_LOW: u32 = 2u;
const REPORT_HIGH: u32 = 3u;
const REPORT_WORDS: u32 = 8u;

@group(0) @binding(8) var<storage, read_write> report: array<atomic<u32>, REPORT_WORDS>;
