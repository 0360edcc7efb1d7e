// How a candidate is stored: best and first position, each with a flag that it is there. Positions stay below 2^31.
// provides: PRESENT
// requires: nothing
const PRESENT: u32 = 0x80000000u;
