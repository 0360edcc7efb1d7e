//! The reduction of a window's elements: which of two elements wins, the values of windows without a winner, and the
//! parts of shaders/reduce/ that do the same with keys. Ties and NaN are decided alike for every reduction.

use crate::element::{DType, Element};
use crate::options::EmptyValue;

/// The reduction of a window's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// The largest element.
    Max,
}

/// The parts of a reduction.
pub struct ReductionParts {
    /// The order of elements of any type, for accumulators with key, element and position
    /// (shaders/reduce/accumulator.wgsl).
    pub any: &'static str,
    /// Accumulators that are a key and a position, where the key alone determines the element: of integers, of f32,
    /// and of 16-bit floats.
    pub integers: &'static str,
    pub words: &'static str,
    pub halves: &'static str,
}

impl Reduction {
    /// Whether an element wins over the best element before it. False for equal elements and with NaN.
    pub fn prefers<T: Element>(self, next: T, best: T) -> bool {
        match self {
            Reduction::Max => next.greater(best),
        }
    }

    /// The bits of the value from which `NanPolicy::SeedLowest` starts.
    #[inline]
    pub fn seed_bits(self, dtype: DType) -> u64 {
        match self {
            Reduction::Max => dtype.seed_bits(),
        }
    }

    /// The bits of the value of a window wholly in padding.
    #[inline]
    pub fn empty_bits(self, value: EmptyValue, dtype: DType) -> u64 {
        match self {
            Reduction::Max => value.bits(dtype),
        }
    }

    /// The shader parts that do the same with keys.
    pub fn parts(self) -> ReductionParts {
        match self {
            Reduction::Max => ReductionParts {
                any: "reduce/max",
                integers: "reduce/max_of_integers",
                words: "reduce/max_of_words",
                halves: "reduce/max_of_halves",
            },
        }
    }
}
