// The bit that marks a stored position as valid: the best or the first position of a candidate or of an accumulator.
// Positions stay below 2^31.
// provides: VALID
// requires: nothing
const VALID: u32 = 0x80000000u;
