// The bits of a float type: all but the sign; those of infinity; how far an element is shifted to the top of a key; and
// the `key_nan_lowest` of +infinity, the largest whose bits below the element's are all alike.
// provides: MAGNITUDE, INFINITE, SHIFT, LARGEST

//// f32 when f32: 32 bits.
const MAGNITUDE: u32 = 0x7fffffffu;
const INFINITE: u32 = 0x7f800000u;
const SHIFT: u32 = 0u;
const LARGEST: u32 = 0xffffffffu;

//// f16 when f16: 16 bits, 5 of the exponent.
const MAGNITUDE: u32 = 0x7fffu;
const INFINITE: u32 = 0x7c00u;
const SHIFT: u32 = 16u;
const LARGEST: u32 = 0xffff0000u;

//// bf16 when bf16: 16 bits, 8 of the exponent.
const MAGNITUDE: u32 = 0x7fffu;
const INFINITE: u32 = 0x7f80u;
const SHIFT: u32 = 16u;
const LARGEST: u32 = 0xffff0000u;
