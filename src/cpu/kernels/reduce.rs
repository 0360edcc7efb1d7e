//! The loops over lanes: the greatest of up to five lanes that lie apart and, if there are `MORE` taps than those, of what was
//! written before.
//!
//! Slices are parameters of their own and not arrays of slices, because the compiler then knows that none overlaps the one
//! that is written.

use super::lane::{Lane, Positioned};
use super::simd::SimdLevel;

/// Rows of lanes that one call reduces: how many, how long, and how far apart where they are read and where they are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub count: usize,
    pub width: usize,
    pub from: usize,
    pub to: usize,
}

impl Rows {
    /// A single row.
    pub fn one(width: usize) -> Rows {
        Rows { count: 1, width, from: width, to: width }
    }

    /// Lanes from the first one that is read to the last one.
    pub fn read(&self) -> usize {
        (self.count - 1) * self.from + self.width
    }

    /// Lanes from the first one that is written to the last one.
    pub fn written(&self) -> usize {
        (self.count - 1) * self.to + self.width
    }
}

/// The lengths of blocks: loops of constant length become vector instructions without a scalar rest.
const LONG: usize = 64;
const SHORT: usize = 16;

/// Visits a row in blocks of a few lengths, which are constants where `visit` is inlined. The last block overlaps the one
/// before it, so `visit` must give the same if it comes twice.
///
/// ```text
/// 150 lanes:   |------- 64 -------|------- 64 -------|- 16 -|
///                                                  |- 16 -|
/// ```
#[inline(always)]
pub(crate) fn in_blocks(width: usize, mut visit: impl FnMut(usize, usize)) {
    let mut at = 0;
    while at + LONG <= width {
        visit(at, LONG);
        at += LONG;
    }
    if width < SHORT {
        visit(0, width);
        return;
    }
    while at < width {
        at = at.min(width - SHORT);
        visit(at, SHORT);
        at += SHORT;
    }
}

macro_rules! loops {
    ($values:ident, $first:ident, $positioned:ident, $($lane:ident, $position:ident, $ahead:ident);+) => {
        /// Values alone, or lanes that say where they lie.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        fn $values<L: Lane, const MORE: bool>(rows: Rows, best: &mut [L], $($lane: &[L], $ahead: i32),+) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn block<L: Lane, const MORE: bool>(length: usize, best: &mut [L], $($lane: &[L], $ahead: i32),+) {
                let best = &mut best[..length];
                $(let $lane = &$lane[..length];)+
                for i in 0..length {
                    let value = if MORE { best[i] } else { L::LOWEST };
                    $(let value = value.step($lane[i], $ahead);)+
                    best[i] = value;
                }
            }
            for row in 0..rows.count {
                let best = &mut best[row * rows.to..][..rows.width];
                $(let $lane = &$lane[row * rows.from..][..rows.width];)+
                in_blocks(
                    rows.width,
                    #[inline(always)]
                    |at, length| block::<L, MORE>(length, &mut best[at..], $(&$lane[at..], $ahead),+),
                );
            }
        }

        /// Values as they were loaded, and where the greatest lies.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        fn $first<L: Positioned, const MORE: bool>(
            rows: Rows,
            best: &mut [L],
            positions: &mut [L::Position],
            $($lane: &[L], $ahead: L::Position),+
        ) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn block<L: Positioned, const MORE: bool>(
                length: usize,
                best: &mut [L],
                positions: &mut [L::Position],
                $($lane: &[L], $ahead: L::Position),+
            ) {
                let best = &mut best[..length];
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
            for row in 0..rows.count {
                let best = &mut best[row * rows.to..][..rows.width];
                let positions = &mut positions[row * rows.to..][..rows.width];
                $(let $lane = &$lane[row * rows.from..][..rows.width];)+
                in_blocks(
                    rows.width,
                    #[inline(always)]
                    |at, length| {
                        block::<L, MORE>(length, &mut best[at..], &mut positions[at..], $(&$lane[at..], $ahead),+)
                    },
                );
            }
        }

        /// Values that have positions already.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        fn $positioned<L: Positioned, const MORE: bool>(
            rows: Rows,
            best: &mut [L],
            positions: &mut [L::Position],
            $($lane: &[L], $position: &[L::Position], $ahead: L::Position),+
        ) {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn block<L: Positioned, const MORE: bool>(
                length: usize,
                best: &mut [L],
                positions: &mut [L::Position],
                $($lane: &[L], $position: &[L::Position], $ahead: L::Position),+
            ) {
                let best = &mut best[..length];
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
            for row in 0..rows.count {
                let best = &mut best[row * rows.to..][..rows.width];
                let positions = &mut positions[row * rows.to..][..rows.width];
                $(let $lane = &$lane[row * rows.from..][..rows.width];)+
                $(let $position = &$position[row * rows.from..][..rows.width];)+
                in_blocks(
                    rows.width,
                    #[inline(always)]
                    |at, length| block::<L, MORE>(
                        length, &mut best[at..], &mut positions[at..], $(&$lane[at..], &$position[at..], $ahead),+
                    ),
                );
            }
        }
    };
}

loops!(values2, first2, positioned2, a, pa, na; b, pb, nb);
loops!(values3, first3, positioned3, a, pa, na; b, pb, nb; c, pc, nc);
loops!(values4, first4, positioned4, a, pa, na; b, pb, nb; c, pc, nc; d, pd, nd);
loops!(values5, first5, positioned5, a, pa, na; b, pb, nb; c, pc, nc; d, pd, nd; e, pe, ne);

/// Taps that are reduced at once, and those beyond the first ones.
pub(crate) const AT_ONCE: usize = 5;
pub(crate) const MORE_AT_ONCE: usize = 4;

/// Calls a loop with as many sources as it has. A source may come twice: what has been taken is not greater than itself.
macro_rules! by_count {
    ($simd:ident, $more:ident, $sources:ident, |$own:ident| $two:expr, $three:expr, $four:expr, $five:expr, $four_more:expr) => {
        let Some(&last) = $sources.last() else { return };
        let mut $own = [last; AT_ONCE];
        $own.iter_mut().zip($sources).for_each(|(own, source)| *own = *source);
        match ($more, $sources.len()) {
            (false, 0..=2) => $simd.run(
                #[inline(always)]
                || $two,
            ),
            (false, 3) => $simd.run(
                #[inline(always)]
                || $three,
            ),
            (false, 4) => $simd.run(
                #[inline(always)]
                || $four,
            ),
            (false, _) => $simd.run(
                #[inline(always)]
                || $five,
            ),
            (true, _) => $simd.run(
                #[inline(always)]
                || $four_more,
            ),
        }
    };
}

/// The greatest lanes of up to five slices, each with how far ahead it lies; or of up to four and of `best`, if there is `more`
/// in it.
pub(crate) fn values<L: Lane>(simd: SimdLevel, rows: Rows, best: &mut [L], sources: &[(&[L], i32)], more: bool) {
    by_count!(
        simd,
        more,
        sources,
        |s| values2::<L, false>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1),
        values3::<L, false>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1),
        values4::<L, false>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1, s[3].0, s[3].1),
        values5::<L, false>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1, s[3].0, s[3].1, s[4].0, s[4].1),
        values4::<L, true>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1, s[3].0, s[3].1)
    );
}

/// A slice of lanes, that of their positions, and how far ahead it lies.
type Source<'a, L> = (&'a [L], &'a [<L as Positioned>::Position], <L as Positioned>::Position);

/// The same of lanes as they were loaded, with positions.
pub(crate) fn first<L: Positioned>(
    simd: SimdLevel,
    rows: Rows,
    best: &mut [L],
    at: &mut [L::Position],
    sources: &[Source<'_, L>],
    more: bool,
) {
    by_count!(
        simd,
        more,
        sources,
        |s| first2::<L, false>(rows, best, at, s[0].0, s[0].2, s[1].0, s[1].2),
        first3::<L, false>(rows, best, at, s[0].0, s[0].2, s[1].0, s[1].2, s[2].0, s[2].2),
        first4::<L, false>(rows, best, at, s[0].0, s[0].2, s[1].0, s[1].2, s[2].0, s[2].2, s[3].0, s[3].2),
        first5::<L, false>(
            rows, best, at, s[0].0, s[0].2, s[1].0, s[1].2, s[2].0, s[2].2, s[3].0, s[3].2, s[4].0, s[4].2
        ),
        first4::<L, true>(rows, best, at, s[0].0, s[0].2, s[1].0, s[1].2, s[2].0, s[2].2, s[3].0, s[3].2)
    );
}

/// The same of lanes that have positions.
pub(crate) fn positioned<L: Positioned>(
    simd: SimdLevel,
    rows: Rows,
    best: &mut [L],
    at: &mut [L::Position],
    sources: &[Source<'_, L>],
    more: bool,
) {
    by_count!(
        simd,
        more,
        sources,
        |s| positioned2::<L, false>(rows, best, at, s[0].0, s[0].1, s[0].2, s[1].0, s[1].1, s[1].2),
        positioned3::<L, false>(rows, best, at, s[0].0, s[0].1, s[0].2, s[1].0, s[1].1, s[1].2, s[2].0, s[2].1, s[2].2),
        positioned4::<L, false>(
            rows, best, at, s[0].0, s[0].1, s[0].2, s[1].0, s[1].1, s[1].2, s[2].0, s[2].1, s[2].2, s[3].0, s[3].1,
            s[3].2
        ),
        positioned5::<L, false>(
            rows, best, at, s[0].0, s[0].1, s[0].2, s[1].0, s[1].1, s[1].2, s[2].0, s[2].1, s[2].2, s[3].0, s[3].1,
            s[3].2, s[4].0, s[4].1, s[4].2
        ),
        positioned4::<L, true>(
            rows, best, at, s[0].0, s[0].1, s[0].2, s[1].0, s[1].1, s[1].2, s[2].0, s[2].1, s[2].2, s[3].0, s[3].1,
            s[3].2
        )
    );
}

/// Copies rows.
pub(crate) fn copy<L: Copy>(simd: SimdLevel, rows: Rows, to: &mut [L], from: &[L]) {
    simd.run(
        #[inline(always)]
        || {
            for row in 0..rows.count {
                let to = &mut to[row * rows.to..][..rows.width];
                let from = &from[row * rows.from..][..rows.width];
                in_blocks(
                    rows.width,
                    #[inline(always)]
                    |at, length| to[at..][..length].copy_from_slice(&from[at..][..length]),
                );
            }
        },
    );
}
