//! Vigna's SplitMix64.

/// The output for a state: the bits have little to do with the state's.
pub fn splitmix64(state: u64) -> u64 {
    let z = state.wrapping_add(STEP);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// How far the state moves with each number.
pub const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
