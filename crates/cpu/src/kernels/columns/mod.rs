//! Pools whose windows hardly overlap, adaptive ones and whole planes: the maxima of columns over the rows of a window,
//! then along the columns.
//!
//! ```text
//! rows of X that the windows of a row of outputs have   a0 a1 a2 a3 a4 a5
//!                                                       b0 b1 b2 b3 b4 b5
//!                                                       c0 c1 c2 c3 c4 c5
//! maxima of columns, each with its row                  b0 c1 a2 a3 c4 b5
//! outputs                                               max of three | max of three
//! ```
//!
//! Of equal elements the one in the earlier row wins, and in a row the earlier one. Within a column the first of equal
//! elements stays, and of the columns that have the maximum the one with the earliest row is looked for, so the winner
//! is the first in row-major order although columns come first. Where no indices are wanted, rows do not matter, but of
//! zeros: the first one is looked for. NaN, -0 and ties with the first element of a window are settled as in the
//! [`separable`](super::separable) kernel: NaN are the lowest lane while columns are reduced, and the winner replaces
//! the window's first element if it is greater than that.
//!
//! In NHWC the channels of a position are the columns, and each of them is an output. Where they are few, those of all
//! positions along the last axis are the columns, and the columns of a window are as far apart as there are channels.
//!
//! Narrow windows of neighbouring rows of outputs are found together: the columns of those rows are interleaved, so
//! that a vector has one column of many rows of outputs. It takes the columns of a window one after the other, each
//! where its element is greater, or as great and from an earlier row:
//!
//! ```text
//! maxima of columns, with their rows   a0 a1 a2 a3 ..   b0 b1 b2 b3 ..   c0 c1 c2 c3 ..     a, b, c: rows of outputs
//! interleaved                          a0 b0 c0 ..   a1 b1 c1 ..   a2 b2 c2 ..   a3 b3 c3 ..
//! first windows, of two columns        a0 b0 c0 .. takes a1 b1 c1 ..
//! ```

mod kept;
mod row;
mod rows;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{DType, ExecuteError, PoolPlan};

use self::kept::{Columns, Values, WithRows};
use self::row::outputs_are_columns;
use self::rows::{Rows, Together};
use super::indices::IndicesMut;
use super::lane::{
    Code, OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32, OfU64, WideBf16, WideF16,
    Widened, with_code,
};
use super::parts::PartOf;
use super::scratch::{Scratch, aligned_words_of, take_aligned};
use super::view::{View, ViewAxis};

/// The reason why not, for plans that this kernel does not compute.
pub(crate) fn applies(plan: &PoolPlan, view: &View) -> Result<(), &'static str> {
    if plan.ignores_nan() {
        return Err("it is a part of a window");
    }
    if plan.has_empty_windows() {
        return Err("windows are empty");
    }
    // What an element adds to the index of the first one of its window, or its number in the window, has 32 bits.
    let span = |axis: &ViewAxis| (axis.input as i64).saturating_mul(axis.index_stride.saturating_abs());
    if outputs_are_columns(view) && view.axes.iter().map(span).fold(0, i64::saturating_add) > i32::MAX.into() {
        return Err("its indices are too far apart");
    }
    if view.most_taps() > i32::MAX as u64 {
        return Err("its windows have too many elements");
    }
    Ok(())
}

/// Computes a part of Y, and of Indices in the order of Y. The slices have the plan's element type.
pub(crate) fn pool(
    part: &PartOf<'_>,
    x: &[u8],
    y: &mut [u8],
    indices: Option<&mut IndicesMut<'_>>,
    scratch: &mut Scratch,
) -> Result<(), ExecuteError> {
    let Some(indices) = indices else { return values(part, x, y, scratch) };
    macro_rules! run {
        ($code:ty) => {{
            type Own = <$code as Code>::Lane;
            let rows = Rows::<$code>::of(part, cast_slice(x), 2);
            let mut words = words::<Own>(scratch, &rows.together, 2)?;
            let kept = WithRows { best: memory(&mut words, &rows.together), rows: memory(&mut words, &rows.together) };
            rows.run(kept, cast_slice_mut(y), Some(indices));
            Ok(())
        }};
    }
    with_code!(part.plan.dtype(), run:
        F32 => OfF32, F64 => OfF64, F16 => WideF16, Bf16 => WideBf16,
        I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => Widened<i8>, U8 => Widened<u8>, I16 => Widened<i16>, U16 => Widened<u16>,
    );
    Ok(())
}

/// Computes a part of Y alone.
fn values(part: &PartOf<'_>, x: &[u8], y: &mut [u8], scratch: &mut Scratch) -> Result<(), ExecuteError> {
    macro_rules! run {
        ($code:ty) => {{
            let rows = Rows::<$code>::of(part, cast_slice(x), 1);
            let mut words = words::<<$code as Code>::Lane>(scratch, &rows.together, 1)?;
            let kept = Values { best: memory(&mut words, &rows.together) };
            rows.run(kept, cast_slice_mut(y), None);
            Ok(())
        }};
    }
    with_code!(part.plan.dtype(), run:
        F32 => OfF32, F64 => OfF64, F16 => OfF16, Bf16 => OfBf16,
        I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => OfI8, U8 => OfU8, I16 => OfI16, U16 => OfU16,
    );
    Ok(())
}

/// Scratch memory for what is kept of columns: `parts` values of each, which are as wide as `L`.
fn words<'a, L>(scratch: &'a mut Scratch, together: &Together, parts: usize) -> Result<&'a mut [u64], ExecuteError> {
    let [own, interleaved] = together.elements();
    scratch.elements(parts * (aligned_words_of::<L>(own) + aligned_words_of::<L>(interleaved)))
}

fn memory<'a, T: Pod>(words: &mut &'a mut [u64], together: &Together) -> Columns<'a, T> {
    let [own, interleaved] = together.elements();
    Columns { own: take_aligned(words, own), interleaved: take_aligned(words, interleaved) }
}
