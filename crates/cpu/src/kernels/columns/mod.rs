//! Pools whose windows hardly overlap, adaptive pools, and pools of whole planes: computes the maxima of columns over
//! the rows of a window, then the maxima along the columns.
//!
//! ```text
//! rows of X that the windows of a row of outputs have   a0 a1 a2 a3 a4 a5
//!                                                       b0 b1 b2 b3 b4 b5
//!                                                       c0 c1 c2 c3 c4 c5
//! maxima of columns, each with its row                  b0 c1 a2 a3 c4 b5
//! outputs                                               max of three | max of three
//! ```
//!
//! Of equal elements the one in the earlier row wins, and within a row the one in the earlier column. Within a column
//! the first of equal elements stays. Of the columns that contain the maximum, the search takes the one with the
//! earliest row. So the winner is the first in row-major order although columns are reduced first. Without indices,
//! rows only matter if the maximum is a zero: the search then finds the first zero. NaN, -0 and ties with the first
//! element of a window are settled as in the [`separable`](super::separable) kernel: NaN becomes the lowest lane while
//! columns are reduced, and the winner replaces the window's first element only if it is greater.
//!
//! In NHWC the columns are the channels of a position, and each of them is an output. If there are few channels, the
//! columns are the channels of all positions along the last axis, and the taps of a window lie as many columns apart as
//! there are channels.
//!
//! Narrow windows of neighbouring rows of outputs are searched together: the columns of these rows are interleaved, so
//! that a vector holds one column of many rows of outputs. Such a vector takes one column of its windows after the
//! other, in each lane where the element is greater, or equal and from an earlier row:
//!
//! ```text
//! maxima of columns, with their rows   a0 a1 a2 a3 ..   b0 b1 b2 b3 ..   c0 c1 c2 c3 ..     a, b, c: rows of outputs
//! interleaved                          a0 b0 c0 ..   a1 b1 c1 ..   a2 b2 c2 ..   a3 b3 c3 ..
//! first windows, of two columns        a0 b0 c0 .. takes a1 b1 c1 ..
//! ```

mod maxima;
mod row;
mod rows;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{DType, ExecuteError, PoolPlan};

use self::maxima::{ColumnBuffer, MaximaAlone, MaximaWithRows};
use self::row::outputs_are_columns;
use self::rows::{Grouping, OutputRows};
use super::indices::IndicesMut;
use super::lane::{
    Code, OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32, OfU64, WideBf16, WideF16,
    Widened, with_code,
};
use super::parts::PartOf;
use super::scratch::{Scratch, aligned_words_of, allocate_aligned};
use super::view::{View, ViewAxis};

/// `Err` says why the kernel does not apply.
pub(crate) fn applies(plan: &PoolPlan, view: &View) -> Result<(), &'static str> {
    if plan.ignores_nan() {
        return Err("it is a part of a window");
    }
    if plan.has_empty_windows() {
        return Err("windows are empty");
    }
    // The index of an element relative to the first one of its window, or its number in the window, has 32 bits.
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
            let rows = OutputRows::<$code>::new(part, cast_slice(x), 2);
            let mut words = words::<Own>(scratch, &rows.together, 2)?;
            let kept =
                MaximaWithRows { best: memory(&mut words, &rows.together), rows: memory(&mut words, &rows.together) };
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
            let rows = OutputRows::<$code>::new(part, cast_slice(x), 1);
            let mut words = words::<<$code as Code>::Lane>(scratch, &rows.together, 1)?;
            let kept = MaximaAlone { best: memory(&mut words, &rows.together) };
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

/// Scratch memory for the maxima of columns: `parts` values per column, each as wide as `L`.
fn words<'a, L>(scratch: &'a mut Scratch, together: &Grouping, parts: usize) -> Result<&'a mut [u64], ExecuteError> {
    let [own, interleaved] = together.elements();
    scratch.elements(parts * (aligned_words_of::<L>(own) + aligned_words_of::<L>(interleaved)))
}

fn memory<'a, T: Pod>(words: &mut &'a mut [u64], together: &Grouping) -> ColumnBuffer<'a, T> {
    let [own, interleaved] = together.elements();
    ColumnBuffer { own: allocate_aligned(words, own), interleaved: allocate_aligned(words, interleaved) }
}
