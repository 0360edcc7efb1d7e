// The flag, in a stored candidate's best and first position, that the position is valid. Positions stay below 2^31.
// provides: VALID
// requires: nothing
const VALID: u32 = 0x80000000u;
