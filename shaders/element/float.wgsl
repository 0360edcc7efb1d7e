// The bits of a float type: all but the sign, those of infinity; how many bits of a key lie above its bits' place, and
// the largest key below infinity's.
// provides: MAGNITUDE, INFINITE, ABOVE, BELOW

//// f32
const MAGNITUDE: u32 = 0x7fffffffu;
const INFINITE: u32 = 0x7f800000u;
const ABOVE: u32 = 0u;
const BELOW: u32 = 0xffffffffu;

//// f16
const MAGNITUDE: u32 = 0x7fffu;
const INFINITE: u32 = 0x7c00u;
const ABOVE: u32 = 16u;
const BELOW: u32 = 0xffff0000u;

//// bf16
const MAGNITUDE: u32 = 0x7fffu;
const INFINITE: u32 = 0x7f80u;
const ABOVE: u32 = 16u;
const BELOW: u32 = 0xffff0000u;
