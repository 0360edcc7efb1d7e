//! From reduced lanes to elements and indices.

use std::ops::Range;

use wgpu_pooling_plan::Index;

use super::form::{Placed, Source};
use crate::kernels::lane::Code;
use crate::kernels::lane::Lane;
use crate::kernels::lane::Packed;
use crate::kernels::lane::Positioned;
use crate::kernels::simd::SimdLevel;

/// What is greater than the first element of a window, or else that.
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

/// What is greater than a constant, or else that.
pub(crate) fn above<C: Code>(simd: SimdLevel, y: &mut [C::Element], first: C::Lane, best: &[C::Lane]) {
    simd.run(
        #[inline(always)]
        || y.iter_mut().zip(best).for_each(|(y, &best)| *y = C::decode(first.step(best, 0))),
    );
}

/// How indices are put together: `base`, what each window adds, and what its first element or its maximum adds to that.
pub(crate) struct Offsets<'a, P> {
    pub base: i64,
    pub windows: &'a [P],
    pub firsts: &'a [P],
}

impl<'a, P> Offsets<'a, P> {
    /// Those of some windows.
    pub fn of(&self, slots: &Range<usize>) -> Offsets<'a, P> {
        let Offsets { base, windows, firsts } = *self;
        Offsets { base, windows: &windows[slots.clone()], firsts: &firsts[slots.clone()] }
    }
}

/// Values and indices of lanes that have their positions beside them.
pub(crate) fn placed<C: Code, I: Index>(
    simd: SimdLevel,
    (y, indices): (&mut [C::Element], &mut [I]),
    first: &[C::Lane],
    best: Source<'_, Placed<C::Lane>>,
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
    // What the longer vectors store at once takes longer to reach memory.
    simd.min(SimdLevel::Avx2).run(
        #[inline(always)]
        || all::<C, I>(y, indices, first, best.lanes, best.positions, windows, firsts, base),
    );
}

/// Values and indices of lanes that have their taps in them. `taps` has what each tap adds to the
/// index of the first one; its length is a power of two.
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
            // Slots that are no outputs can have any number for a tap.
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
