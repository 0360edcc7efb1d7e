//! Chooses the lanes of a pool's elements.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{DType, ExecuteError};

use super::pool::Separable;
use super::work::PartWork;
use crate::kernels::indices::IndicesMut;
use crate::kernels::lane::OfBf16;
use crate::kernels::lane::OfF16;
use crate::kernels::lane::OfF32;
use crate::kernels::lane::OfF64;
use crate::kernels::lane::OfI8;
use crate::kernels::lane::OfI16;
use crate::kernels::lane::OfI32;
use crate::kernels::lane::OfI64;
use crate::kernels::lane::OfU8;
use crate::kernels::lane::OfU16;
use crate::kernels::lane::OfU32;
use crate::kernels::lane::OfU64;
use crate::kernels::lane::WideBf16;
use crate::kernels::lane::WideF16;
use crate::kernels::lane::with_code;
use crate::kernels::parts::PartOf;
use crate::kernels::scratch::Scratch;

/// Computes a part of Y, and of Indices in the order of Y. The slices have the plan's element type.
pub(crate) fn run(
    separable: &Separable,
    part: &PartOf<'_>,
    x: &[u8],
    y: &mut [u8],
    indices: Option<IndicesMut<'_>>,
    scratch: &mut Scratch,
) -> Result<(), ExecuteError> {
    let Some(indices) = indices else { return values(separable, part, x, y, scratch) };
    let dtype = part.plan.dtype();
    let mut work = PartWork::new(separable, part, Some(indices), scratch);
    macro_rules! placed {
        ($code:ty) => {
            work.placed::<$code>(cast_slice(x), cast_slice_mut(y))
        };
    }
    macro_rules! packed {
        ($code:ty) => {
            work.packed::<$code>(cast_slice(x), cast_slice_mut(y))
        };
    }
    match dtype {
        DType::F16 => return work.packed_halves::<OfF16, WideF16>(cast_slice(x), cast_slice_mut(y)),
        DType::Bf16 => return work.packed_halves::<OfBf16, WideBf16>(cast_slice(x), cast_slice_mut(y)),
        _ => {}
    }
    with_code!(dtype, placed: F32 => OfF32, F64 => OfF64, I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64);
    with_code!(dtype, packed: I8 => OfI8, U8 => OfU8, I16 => OfI16, U16 => OfU16);
    Ok(())
}

/// Computes a part of Y alone.
fn values(
    separable: &Separable,
    part: &PartOf<'_>,
    x: &[u8],
    y: &mut [u8],
    scratch: &mut Scratch,
) -> Result<(), ExecuteError> {
    let dtype = part.plan.dtype();
    let mut work = PartWork::new(separable, part, None, scratch);
    macro_rules! values {
        ($code:ty) => {
            work.values::<$code>(cast_slice(x), cast_slice_mut(y))
        };
    }
    match dtype {
        DType::F16 => return work.halves::<OfF16, WideF16>(cast_slice(x), cast_slice_mut(y)),
        DType::Bf16 => return work.halves::<OfBf16, WideBf16>(cast_slice(x), cast_slice_mut(y)),
        _ => {}
    }
    with_code!(dtype, values:
        F32 => OfF32, F64 => OfF64, I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => OfI8, U8 => OfU8, I16 => OfI16, U16 => OfU16,
    );
    Ok(())
}
