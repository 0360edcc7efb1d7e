//! From reduced lanes to Y and Indices, row by row.

use super::lane::{Code, Lane, Packed, Positioned};
use crate::cpu::kernels::simd::SimdLevel;
use crate::element::{Index, IndexType};

/// Indices of 32 or 64 bits, where there are any.
#[derive(Debug)]
pub(crate) enum Indices<'a> {
    None,
    I32(&'a mut [i32]),
    I64(&'a mut [i64]),
}

impl<'a> Indices<'a> {
    pub fn of<I: Index>(indices: Option<&'a mut [I]>) -> Indices<'a> {
        match (indices, I::INDEX_TYPE) {
            (None, _) => Indices::None,
            (Some(indices), IndexType::I32) => Indices::I32(bytemuck::cast_slice_mut(indices)),
            (Some(indices), IndexType::I64) => Indices::I64(bytemuck::cast_slice_mut(indices)),
        }
    }

    /// Some of them.
    pub fn part(&mut self, range: std::ops::Range<usize>) -> Indices<'_> {
        match self {
            Indices::None => Indices::None,
            Indices::I32(indices) => Indices::I32(&mut indices[range]),
            Indices::I64(indices) => Indices::I64(&mut indices[range]),
        }
    }

    pub fn set(&mut self, place: usize, index: i64) {
        match self {
            Indices::None => {}
            Indices::I32(indices) => indices[place] = i32::from_i64(index),
            Indices::I64(indices) => indices[place] = index,
        }
    }

    pub fn get(&self, place: usize) -> i64 {
        match self {
            Indices::None => 0,
            Indices::I32(indices) => indices[place].into(),
            Indices::I64(indices) => indices[place],
        }
    }
}

/// Values that need no comparison with the window's first element: integers.
pub(crate) fn integers<C: Code>(simd: SimdLevel, y: &mut [C::Element], best: &[C::Lane]) {
    simd.run(
        #[inline(always)]
        || y.iter_mut().zip(best).for_each(|(y, &best)| *y = C::decode(best)),
    );
}

/// The first element of each window, or what is greater.
pub(crate) fn floats<C: Code>(simd: SimdLevel, y: &mut [C::Element], first: &[C::Lane], best: &[C::Lane]) {
    #[inline(always)]
    fn row<C: Code>(y: &mut [C::Element], first: &[C::Lane], best: &[C::Lane]) {
        for ((y, &first), &best) in y.iter_mut().zip(first).zip(best) {
            *y = C::decode(first.step(best, 0));
        }
    }
    simd.run(
        #[inline(always)]
        || row::<C>(y, first, best),
    );
}

/// How the indices of a row are put together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a, P> {
    /// The index of the first tap of the row's first window.
    pub base: i64,
    /// What the following windows add.
    pub along: &'a [P],
    /// What the first element of a window adds to the index of its first tap, and the following ones likewise.
    pub other: P,
    pub other_along: &'a [P],
}

/// Values and indices of lanes that have their positions beside them.
pub(crate) fn placed<C: Code>(
    simd: SimdLevel,
    y: &mut [C::Element],
    indices: Indices<'_>,
    (first, best, positions): (&[C::Lane], &[C::Lane], &[<C::Lane as Positioned>::Position]),
    row: Row<'_, <C::Lane as Positioned>::Position>,
) where
    C::Lane: Positioned,
{
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn write<C: Code, I: Index>(
        y: &mut [C::Element],
        indices: &mut [I],
        first: &[C::Lane],
        best: &[C::Lane],
        positions: &[<C::Lane as Positioned>::Position],
        along: &[<C::Lane as Positioned>::Position],
        other_along: &[<C::Lane as Positioned>::Position],
        (base, other): (i64, <C::Lane as Positioned>::Position),
    ) where
        C::Lane: Positioned,
    {
        let length = y.len();
        let (indices, first, best) = (&mut indices[..length], &first[..length], &best[..length]);
        let (positions, along, other_along) = (&positions[..length], &along[..length], &other_along[..length]);
        for i in 0..length {
            let own = C::Lane::ahead(along[i], positions[i]);
            let offset = C::Lane::select(first[i], best[i], C::Lane::ahead(other_along[i], other), own);
            y[i] = C::decode(first[i].step(best[i], 0));
            indices[i] = I::from_i64(base.wrapping_add(C::Lane::offset(offset)));
        }
    }
    let Row { base, along, other, other_along } = row;
    let others = (base, other);
    match indices {
        Indices::None => floats::<C>(simd, y, first, best),
        Indices::I32(indices) => simd.run(
            #[inline(always)]
            || write::<C, i32>(y, indices, first, best, positions, along, other_along, others),
        ),
        Indices::I64(indices) => simd.run(
            #[inline(always)]
            || write::<C, i64>(y, indices, first, best, positions, along, other_along, others),
        ),
    }
}

/// Values and indices of lanes that have their taps in them. `offsets` has what each tap adds to the index of the first one.
pub(crate) fn packed<C: Code<Lane = Packed>>(
    simd: SimdLevel,
    y: &mut [C::Element],
    indices: Indices<'_>,
    (first, best): (&[Packed], &[Packed]),
    offsets: &[i32],
    row: Row<'_, i32>,
) {
    #[inline(always)]
    fn write<C: Code<Lane = Packed>, I: Index>(
        y: &mut [C::Element],
        indices: &mut [I],
        first: &[Packed],
        best: &[Packed],
        offsets: &[i32],
        row: Row<'_, i32>,
    ) {
        let length = y.len();
        let (indices, first, best) = (&mut indices[..length], &first[..length], &best[..length]);
        let (along, other_along) = (&row.along[..length], &row.other_along[..length]);
        for i in 0..length {
            let own = along[i].wrapping_add(offsets[best[i].tap()]);
            let other = other_along[i].wrapping_add(row.other);
            let offset = if best[i].above(first[i]) { own } else { other };
            y[i] = C::decode(first[i].step(best[i], 0));
            indices[i] = I::from_i64(row.base.wrapping_add(offset.into()));
        }
    }
    match indices {
        Indices::None => floats::<C>(simd, y, first, best),
        Indices::I32(indices) => simd.run(
            #[inline(always)]
            || write::<C, i32>(y, indices, first, best, offsets, row),
        ),
        Indices::I64(indices) => simd.run(
            #[inline(always)]
            || write::<C, i64>(y, indices, first, best, offsets, row),
        ),
    }
}
