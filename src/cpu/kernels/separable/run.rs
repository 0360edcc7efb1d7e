//! Which lanes the elements of a pool become.

use bytemuck::{cast_slice, cast_slice_mut};

use super::finish::Indices;
use super::lane::{
    OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32, OfU64, WideBf16, WideF16,
};
use super::pool::Separable;
use super::work::{PartOf, Work};
use crate::cpu::kernels::scratch::Scratch;
use crate::element::DType;
use crate::error::ExecuteError;

/// Computes a part of Y, and of Indices in the order of Y. The slices have the plan's element type.
pub(crate) fn run(
    separable: &Separable,
    part: &PartOf<'_>,
    x: &[u8],
    y: &mut [u8],
    indices: Indices<'_>,
    scratch: &mut Scratch,
) -> Result<(), ExecuteError> {
    let with_indices = !matches!(indices, Indices::None);
    let mut work = Work::new(separable, part, indices, scratch);
    macro_rules! run {
        ($function:ident, $($code:ty),+) => {
            work.$function::<$($code),+>(cast_slice(x), cast_slice_mut(y))
        };
    }
    match (part.plan.dtype(), with_indices) {
        (DType::F32, false) => run!(values, OfF32),
        (DType::F32, true) => run!(placed, OfF32),
        (DType::F64, false) => run!(values, OfF64),
        (DType::F64, true) => run!(placed, OfF64),
        (DType::I32, false) => run!(values, OfI32),
        (DType::I32, true) => run!(placed, OfI32),
        (DType::U32, false) => run!(values, OfU32),
        (DType::U32, true) => run!(placed, OfU32),
        (DType::I64, false) => run!(values, OfI64),
        (DType::I64, true) => run!(placed, OfI64),
        (DType::U64, false) => run!(values, OfU64),
        (DType::U64, true) => run!(placed, OfU64),
        (DType::U8, false) => run!(values, OfU8),
        (DType::U8, true) => run!(packed, OfU8),
        (DType::I8, false) => run!(values, OfI8),
        (DType::I8, true) => run!(packed, OfI8),
        (DType::I16, false) => run!(values, OfI16),
        (DType::I16, true) => run!(packed, OfI16),
        (DType::U16, false) => run!(values, OfU16),
        (DType::U16, true) => run!(packed, OfU16),
        (DType::F16, false) => run!(halves, OfF16, WideF16),
        (DType::F16, true) => run!(packed_halves, OfF16, WideF16),
        (DType::Bf16, false) => run!(halves, OfBf16, WideBf16),
        (DType::Bf16, true) => run!(packed_halves, OfBf16, WideBf16),
    }
}
