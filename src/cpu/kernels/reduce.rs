//! The loops over lanes: the greatest of up to five lanes that lie apart and, if there are `MORE` taps than those, of what was
//! written before.
//!
//! Slices are parameters of their own and not arrays of slices, because the compiler then knows that none overlaps the one that is
//! written.

use super::lane::{Lane, Positioned};
use super::simd::SimdLevel;

macro_rules! loops {
    ($values:ident, $first:ident, $positioned:ident, $($lane:ident, $position:ident, $ahead:ident);+) => {
        /// Values alone, or lanes that say where they lie.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $values<L: Lane, const MORE: bool>(best: &mut [L], $($lane: &[L], $ahead: i32),+) {
            let length = best.len();
            $(let $lane = &$lane[..length];)+
            for i in 0..length {
                let value = if MORE { best[i] } else { L::LOWEST };
                $(let value = value.step($lane[i], $ahead);)+
                best[i] = value;
            }
        }

        /// Values as they were loaded, and where the greatest lies.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $first<L: Positioned, const MORE: bool>(
            best: &mut [L],
            positions: &mut [L::Position],
            $($lane: &[L], $ahead: L::Position),+
        ) {
            let length = best.len();
            let positions = &mut positions[..length];
            $(let $lane = &$lane[..length];)+
            for i in 0..length {
                let (value, position) =
                    if MORE { (best[i], positions[i]) } else { (L::LOWEST, L::position(0)) };
                $(
                    let position = L::select(value, $lane[i], position, $ahead);
                    let value = value.step($lane[i], 0);
                )+
                best[i] = value;
                positions[i] = position;
            }
        }

        /// Values that have positions already.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $positioned<L: Positioned, const MORE: bool>(
            best: &mut [L],
            positions: &mut [L::Position],
            $($lane: &[L], $position: &[L::Position], $ahead: L::Position),+
        ) {
            let length = best.len();
            let positions = &mut positions[..length];
            $(let $lane = &$lane[..length];)+
            $(let $position = &$position[..length];)+
            for i in 0..length {
                let (value, position) =
                    if MORE { (best[i], positions[i]) } else { (L::LOWEST, L::position(0)) };
                $(
                    let position = L::select(value, $lane[i], position, L::ahead($position[i], $ahead));
                    let value = value.step($lane[i], 0);
                )+
                best[i] = value;
                positions[i] = position;
            }
        }
    };
}

loops!(values1, first1, positioned1, a, pa, na);
loops!(values2, first2, positioned2, a, pa, na; b, pb, nb);
loops!(values3, first3, positioned3, a, pa, na; b, pb, nb; c, pc, nc);
loops!(values4, first4, positioned4, a, pa, na; b, pb, nb; c, pc, nc; d, pd, nd);
loops!(values5, first5, positioned5, a, pa, na; b, pb, nb; c, pc, nc; d, pd, nd; e, pe, ne);

macro_rules! by_count {
    ($simd:ident, $more:ident, $sources:ident, { $($pattern:pat => $function:ident ($($argument:expr),+)),+ $(,)? }) => {
        match $sources {
            $($pattern => {
                if $more {
                    $simd.run(#[inline(always)] || $function::<_, true>($($argument),+));
                } else {
                    $simd.run(#[inline(always)] || $function::<_, false>($($argument),+));
                }
            })+
            _ => {}
        }
    };
}

/// The greatest lanes of up to five slices, each with how far ahead it lies, and of `best` if there is `more` in it.
pub(crate) fn values<L: Lane>(simd: SimdLevel, best: &mut [L], sources: &[(&[L], i32)], more: bool) {
    by_count!(simd, more, sources, {
        &[(a, na)] => values1(best, a, na),
        &[(a, na), (b, nb)] => values2(best, a, na, b, nb),
        &[(a, na), (b, nb), (c, nc)] => values3(best, a, na, b, nb, c, nc),
        &[(a, na), (b, nb), (c, nc), (d, nd)] => values4(best, a, na, b, nb, c, nc, d, nd),
        &[(a, na), (b, nb), (c, nc), (d, nd), (e, ne)] => values5(best, a, na, b, nb, c, nc, d, nd, e, ne),
    });
}

/// A slice of lanes, that of their positions, and how far ahead it lies.
type Source<'a, L> = (&'a [L], &'a [<L as Positioned>::Position], <L as Positioned>::Position);

/// The same of lanes as they were loaded, with positions.
pub(crate) fn first<L: Positioned>(
    simd: SimdLevel,
    best: &mut [L],
    positions: &mut [L::Position],
    sources: &[Source<'_, L>],
    more: bool,
) {
    by_count!(simd, more, sources, {
        &[(a, _, na)] => first1(best, positions, a, na),
        &[(a, _, na), (b, _, nb)] => first2(best, positions, a, na, b, nb),
        &[(a, _, na), (b, _, nb), (c, _, nc)] => first3(best, positions, a, na, b, nb, c, nc),
        &[(a, _, na), (b, _, nb), (c, _, nc), (d, _, nd)] => first4(best, positions, a, na, b, nb, c, nc, d, nd),
        &[(a, _, na), (b, _, nb), (c, _, nc), (d, _, nd), (e, _, ne)] => first5(best, positions, a, na, b, nb, c, nc, d, nd, e, ne),
    });
}

/// The same of lanes that have positions.
pub(crate) fn positioned<L: Positioned>(
    simd: SimdLevel,
    best: &mut [L],
    positions: &mut [L::Position],
    sources: &[Source<'_, L>],
    more: bool,
) {
    by_count!(simd, more, sources, {
        &[(a, pa, na)] => positioned1(best, positions, a, pa, na),
        &[(a, pa, na), (b, pb, nb)] => positioned2(best, positions, a, pa, na, b, pb, nb),
        &[(a, pa, na), (b, pb, nb), (c, pc, nc)] => positioned3(best, positions, a, pa, na, b, pb, nb, c, pc, nc),
        &[(a, pa, na), (b, pb, nb), (c, pc, nc), (d, pd, nd)] => positioned4(best, positions, a, pa, na, b, pb, nb, c, pc, nc, d, pd, nd),
        &[(a, pa, na), (b, pb, nb), (c, pc, nc), (d, pd, nd), (e, pe, ne)] => positioned5(best, positions, a, pa, na, b, pb, nb, c, pc, nc, d, pd, nd, e, pe, ne),
    });
}
