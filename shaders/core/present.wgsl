// The flag, in a stored candidate's best and first position, that the position is valid. Positions stay below 2^31.
// provides: PRESENT
// requires: nothing
const PRESENT: u32 = 0x80000000u;
