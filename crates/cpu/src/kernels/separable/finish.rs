//! Converts reduced lanes to elements and indices.

use std::ops::Range;

use wgpu_pooling_plan::Index;

use super::form::{LaneSlices, WithPositions};
use crate::kernels::lane::{Code, Lane, Packed, Positioned};
use crate::kernels::simd::SimdLevel;

/// Writes each maximum if it is greater than the first element of its window, and that element otherwise.
pub(crate) fn floats<C: Code>(simd: SimdLevel, y: &mut [C::Element], first: &[C::Lane], best: &[C::Lane]) {
    #[inline(always)]
    fn all<C: Code>(y: &mut [C::Element], first: &[C::Lane], best: &[C::Lane]) {
        for ((y, &first), &best) in y.iter_mut().zip(first).zip(best) {
            *y = C::decode(first.step(best, 0));
        }
    }
    simd.run(
        #[inline(always)]
        || all::<C>(y, first, best),
    );
}

/// Writes each maximum if it is greater than a constant, and the constant otherwise.
pub(crate) fn above<C: Code>(simd: SimdLevel, y: &mut [C::Element], first: C::Lane, best: &[C::Lane]) {
    simd.run(
        #[inline(always)]
        || y.iter_mut().zip(best).for_each(|(y, &best)| *y = C::decode(first.step(best, 0))),
    );
}

/// The summands of indices: `base`, the amount of each window, and the amount of the window's first element, which the
/// maximum replaces if it wins.
pub(crate) struct Offsets<'a, P> {
    pub base: i64,
    pub windows: &'a [P],
    pub firsts: &'a [P],
}

impl<'a, P> Offsets<'a, P> {
    /// The summands for some windows.
    pub fn part(&self, slots: &Range<usize>) -> Offsets<'a, P> {
        let Offsets { base, windows, firsts } = *self;
        Offsets { base, windows: &windows[slots.clone()], firsts: &firsts[slots.clone()] }
    }
}

/// Writes values and indices of lanes whose positions are in another slice.
pub(crate) fn placed<C: Code, I: Index>(
    simd: SimdLevel,
    (y, indices): (&mut [C::Element], &mut [I]),
    first: &[C::Lane],
    best: LaneSlices<'_, WithPositions<C::Lane>>,
    offsets: &Offsets<'_, <C::Lane as Positioned>::Position>,
) where
    C::Lane: Positioned,
{
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn all<C: Code, I: Index>(
        y: &mut [C::Element],
        indices: &mut [I],
        first: &[C::Lane],
        best: &[C::Lane],
        positions: &[<C::Lane as Positioned>::Position],
        windows: &[<C::Lane as Positioned>::Position],
        firsts: &[<C::Lane as Positioned>::Position],
        base: i64,
    ) where
        C::Lane: Positioned,
    {
        let length = y.len();
        let (indices, first, best) = (&mut indices[..length], &first[..length], &best[..length]);
        let (positions, windows, firsts) = (&positions[..length], &windows[..length], &firsts[..length]);
        for i in 0..length {
            let inside = C::Lane::select(first[i], best[i], firsts[i], positions[i]);
            y[i] = C::decode(first[i].step(best[i], 0));
            indices[i] = I::from_i64(base.wrapping_add(C::Lane::offset(C::Lane::ahead(windows[i], inside))));
        }
    }
    let &Offsets { base, windows, firsts } = offsets;
    // The stores of longer vectors take longer to reach memory.
    simd.min(SimdLevel::Avx2).run(
        #[inline(always)]
        || all::<C, I>(y, indices, first, best.lanes, best.positions, windows, firsts, base),
    );
}

/// Writes values and indices of lanes that contain their taps. `taps` has the amount that each tap adds to the index of
/// the first one; its length is a power of two.
pub(crate) fn packed<C: Code<Lane = Packed>, I: Index>(
    simd: SimdLevel,
    (y, indices): (&mut [C::Element], &mut [I]),
    (first, best): (&[Packed], &[Packed]),
    taps: &[i32],
    offsets: &Offsets<'_, i32>,
) {
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn all<C: Code<Lane = Packed>, I: Index>(
        y: &mut [C::Element],
        indices: &mut [I],
        first: &[Packed],
        best: &[Packed],
        taps: &[i32],
        windows: &[i32],
        firsts: &[i32],
        base: i64,
    ) {
        let length = y.len();
        let (indices, first, best) = (&mut indices[..length], &first[..length], &best[..length]);
        let (windows, firsts) = (&windows[..length], &firsts[..length]);
        for i in 0..length {
            // Slots that are not outputs may contain any number as their tap.
            let own = taps[best[i].tap() & (taps.len() - 1)];
            let inside = if best[i].above(first[i]) { own } else { firsts[i] };
            y[i] = C::decode(first[i].step(best[i], 0));
            indices[i] = I::from_i64(base.wrapping_add(windows[i].wrapping_add(inside).into()));
        }
    }
    let &Offsets { base, windows, firsts } = offsets;
    simd.run(
        #[inline(always)]
        || all::<C, I>(y, indices, first, best, taps, windows, firsts, base),
    );
}
