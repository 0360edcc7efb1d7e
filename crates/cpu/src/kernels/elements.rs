//! For each element type: the lanes and the vectors in which kernels compare its elements.

use half::{bf16, f16};
use wgpu_pooling_plan::Element;

use super::lane::{
    Code, NanBf16, NanF16, NanF32, NanF64, OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32,
    OfU64, Positioned, SameI8, SameU16, SameU32, SameU64, WideBf16, WideF16, Widened,
};
use super::separable::lanes::{BlockLanes, InPositions, InTaps, InTapsOrFloats};
use super::small_planes::SmallPlanes;
use super::vector::{Bf16s, F16s, F32s, F64s, I8s, I16s, I32s, I64s, U8s, U16s, U32s, U64s, VectorCode};

/// An element type that kernels compare in lanes and vectors.
pub(crate) trait LaneElement: Element {
    /// Lanes for values alone, of few types so that loops over lanes are compiled seldom. Those of 16-bit floats are
    /// integers, which lose NaN and the sign of zeros.
    type Values: Code<Element = Self, Lane: SmallPlanes>;
    /// Lanes that have the bits of their elements, where such lanes can be compared.
    type Own: Code<Element = Self>;
    /// As [`LaneElement::Own`], but f32 for floats of 16 bits, which loses nothing.
    type Lossless: Code<Element = Self>;
    /// As [`LaneElement::Own`], but for floats lanes in which the last NaN wins.
    type NanWins: Code<Element = Self>;
    /// Lanes of at least 32 bits that lose nothing, with positions beside them.
    type Positions: Code<Element = Self, Lane: Positioned>;
    /// Vectors.
    type Vectors: VectorCode<Element = Self>;
    /// How the separable kernel computes blocks.
    type Blocks: BlockLanes<Element = Self>;
}

macro_rules! elements {
    ($($element:ty: $values:ty, $own:ty, $lossless:ty, $nan_wins:ty, $positions:ty, $vectors:ty, $blocks:ty;)+) => {
        $(impl LaneElement for $element {
            type Values = $values;
            type Own = $own;
            type Lossless = $lossless;
            type NanWins = $nan_wins;
            type Positions = $positions;
            type Vectors = $vectors;
            type Blocks = $blocks;
        })+
    };
}

// Element: Values, Own, Lossless, NanWins, Positions, Vectors, Blocks.
elements! {
    f32: OfF32, OfF32, OfF32, NanF32, OfF32, F32s, InPositions<OfF32, NanF32>;
    f64: OfF64, OfF64, OfF64, NanF64, OfF64, F64s, InPositions<OfF64, NanF64>;
    f16: OfF16, OfF16, WideF16, NanF16, WideF16, F16s, InTapsOrFloats<OfF16, WideF16, NanF16>;
    bf16: OfBf16, OfBf16, WideBf16, NanBf16, WideBf16, Bf16s, InTapsOrFloats<OfBf16, WideBf16, NanBf16>;
    i8: OfI8, SameI8, SameI8, SameI8, Widened<i8>, I8s, InTaps<OfI8, Widened<i8>>;
    u8: OfU8, OfU8, OfU8, OfU8, Widened<u8>, U8s, InTaps<OfU8, Widened<u8>>;
    i16: OfI16, OfI16, OfI16, OfI16, Widened<i16>, I16s, InTaps<OfI16, Widened<i16>>;
    u16: OfU16, SameU16, SameU16, SameU16, Widened<u16>, U16s, InTaps<OfU16, Widened<u16>>;
    i32: OfI32, OfI32, OfI32, OfI32, OfI32, I32s, InPositions<OfI32, OfI32>;
    u32: OfU32, SameU32, SameU32, SameU32, OfU32, U32s, InPositions<OfU32, OfU32>;
    i64: OfI64, OfI64, OfI64, OfI64, OfI64, I64s, InPositions<OfI64, OfI64>;
    u64: OfU64, SameU64, SameU64, SameU64, OfU64, U64s, InPositions<OfU64, OfU64>;
}
