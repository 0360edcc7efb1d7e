//! The reduction of a window's elements: which of two elements wins, and the values of windows without a winner. Ties
//! and NaN are decided alike for every reduction.
//!
//! A minimum is a maximum of mirrored elements, whose order is reversed: floats with the other sign, integers with all
//! bits inverted. Kernels compare mirrored elements (shaders/reduce/mirror.wgsl), or are given them.

use crate::element::{DType, Element};

/// The reduction of a window's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The largest element.
    Max,
    /// The smallest element.
    Min,
}

impl Reduction {
    /// Whether an element wins over the best element before it. False for equal elements and with NaN.
    pub fn prefers<T: Element>(self, next: T, best: T) -> bool {
        match self {
            Reduction::Max => next.greater(best),
            Reduction::Min => best.greater(next),
        }
    }

    /// The bits that are inverted in an element whose maximum is this reduction.
    #[inline]
    pub fn mirror_bits(self, dtype: DType) -> u64 {
        let bits = 8 * dtype.bytes() as u32;
        match self {
            Reduction::Max => 0,
            Reduction::Min if dtype.is_float() => 1 << (bits - 1),
            Reduction::Min => u64::MAX >> (64 - bits),
        }
    }

    /// The bits of the value from which `NanPolicy::SeedLowest` starts.
    #[inline]
    pub fn seed_bits(self, dtype: DType) -> u64 {
        dtype.seed_bits() ^ self.mirror_bits(dtype)
    }

    /// The bits of the lowest value: -inf or, of integers, their minimum.
    #[inline]
    pub fn lowest_bits(self, dtype: DType) -> u64 {
        dtype.negative_infinity_bits() ^ self.mirror_bits(dtype)
    }
}
