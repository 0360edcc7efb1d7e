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
use wgpu_pooling_plan::{ExecuteError, with_element};

use self::maxima::{ColumnBuffer, MaximaAlone, MaximaWithRows};
use self::row::outputs_are_columns;
use self::rows::{Grouping, OutputRows};
use super::elements::LaneElement;
use super::indices::IndicesMut;
use super::kernel::{Offer, OfferedPool, Operands, PoolKernel};
use super::lane::{Code, Positioned};
use super::parts::PartOf;
use super::scratch::{ThreadMemory, aligned_words_of, allocate_aligned};
use super::tuning::columns::{BYTE, CHANNEL, HALF, OUTPUT, PERMUTED_PLANE, REDUCED, ROW, SEARCHED, TAPS};
use super::view::ViewAxis;

/// A pool whose columns are reduced first.
#[derive(Debug)]
struct Columns;

/// `Err` says why the kernel does not apply.
pub(crate) fn offer<'a>(pool: &'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str> {
    let view = pool.view;
    if pool.plan.has_empty_windows() {
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
    Ok(Offer::new(cost(pool), || Columns))
}

/// The time for all rows of outputs: to reduce the columns of each, and to search them for its outputs.
fn cost(pool: &OfferedPool<'_>) -> f64 {
    let view = pool.view;
    let bytes = pool.plan.dtype().bytes();
    let lane = if pool.plan.indices.is_some() { bytes.max(4) } else { bytes };
    let row = |elements: f64| pool.vectors(elements, lane).ceil().max(1.0);
    if outputs_are_columns(view) {
        let rows = pool.outputs() / view.inner as f64;
        let taken = rows * view.most_taps() as f64;
        let reduced = taken * row(view.inner as f64);
        return pool.cost(&[
            (BYTE, pool.bytes()),
            (ROW, rows),
            (TAPS, taken),
            (REDUCED, reduced),
            (CHANNEL, pool.outputs()),
            (PERMUTED_PLANE, pool.permuted_planes()),
            (HALF, pool.if_half(reduced)),
        ]);
    }
    let Some(last) = view.axes.last() else { return f64::INFINITY };
    let along = last.window.most_taps(last.input).max(1) as f64;
    let rows = pool.outputs() / (last.output as f64 * view.inner as f64).max(1.0);
    let taken = rows * (view.most_taps() as f64 / along);
    let reduced = taken * row(last.input as f64 * view.inner as f64);
    pool.cost(&[
        (BYTE, pool.bytes()),
        (ROW, rows),
        (TAPS, taken),
        (REDUCED, reduced),
        (OUTPUT, pool.outputs()),
        (SEARCHED, pool.outputs() * along),
        (PERMUTED_PLANE, pool.permuted_planes()),
        (HALF, pool.if_half(reduced)),
    ])
}

impl PoolKernel for Columns {
    fn run(
        &self,
        part: &PartOf<'_>,
        (x, y, indices): Operands<'_>,
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        with_element!(part.plan.dtype(), T => match indices {
            None => values::<<T as LaneElement>::Values>(part, cast_slice(x), cast_slice_mut(y), scratch),
            Some(mut indices) => indexed::<<T as LaneElement>::Positions>(
                part, cast_slice(x), (cast_slice_mut(y), &mut indices), scratch
            ),
        })
    }
}

/// Computes a part of Y alone.
fn values<C: Code>(
    part: &PartOf<'_>,
    x: &[C::Element],
    y: &mut [C::Element],
    scratch: &mut ThreadMemory,
) -> Result<(), ExecuteError> {
    let rows = OutputRows::<C>::new(part, x, 1);
    let mut words = words::<C::Lane>(scratch, &rows.together, 1)?;
    let kept = MaximaAlone { best: memory(&mut words, &rows.together) };
    rows.run(kept, y, None);
    Ok(())
}

/// Computes a part of Y and of Indices.
fn indexed<C: Code<Lane: Positioned>>(
    part: &PartOf<'_>,
    x: &[C::Element],
    (y, indices): (&mut [C::Element], &mut IndicesMut<'_>),
    scratch: &mut ThreadMemory,
) -> Result<(), ExecuteError> {
    let rows = OutputRows::<C>::new(part, x, 2);
    let mut words = words::<C::Lane>(scratch, &rows.together, 2)?;
    let kept = MaximaWithRows { best: memory(&mut words, &rows.together), rows: memory(&mut words, &rows.together) };
    rows.run(kept, y, Some(indices));
    Ok(())
}

/// Scratch memory for the maxima of columns: `parts` values per column, each as wide as `L`.
fn words<'a, L>(
    scratch: &'a mut ThreadMemory,
    together: &Grouping,
    parts: usize,
) -> Result<&'a mut [u64], ExecuteError> {
    let [own, interleaved] = together.elements();
    scratch.elements(parts * (aligned_words_of::<L>(own) + aligned_words_of::<L>(interleaved)))
}

fn memory<'a, T: Pod>(words: &mut &'a mut [u64], together: &Grouping) -> ColumnBuffer<'a, T> {
    let [own, interleaved] = together.elements();
    ColumnBuffer { own: allocate_aligned(words, own), interleaved: allocate_aligned(words, interleaved) }
}
