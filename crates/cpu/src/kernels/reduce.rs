//! The loops over lanes: each writes the greatest of up to five lanes from different places and, if `MORE`, of the
//! current value.
//!
//! Each slice is a parameter of its own and not an element of an array, because this tells the compiler that no slice
//! overlaps the one that is written.

use std::ops::Range;

use wgpu_pooling_plan::Element;

use super::lane::{Code, Lane, Positioned};
use super::mirror::inverted;
use super::simd::SimdLevel;

/// Rows of lanes that one call reduces: their number, their length, and their pitches for reading and for writing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows {
    pub count: usize,
    pub width: usize,
    pub read_pitch: usize,
    pub write_pitch: usize,
}

impl Rows {
    /// A single row.
    pub fn one(width: usize) -> Rows {
        Rows { count: 1, width, read_pitch: width, write_pitch: width }
    }

    /// These rows joined to a single row if no lanes lie between them.
    pub fn joined(self) -> Rows {
        if self.read_pitch == self.width { self.joined_with_gaps() } else { self }
    }

    /// These rows joined to a single row if both pitches are equal. The lanes between the rows are then reduced too.
    pub fn joined_with_gaps(self) -> Rows {
        if self.read_pitch == self.write_pitch {
            Rows::one((self.count - 1) * self.read_pitch + self.width)
        } else {
            self
        }
    }

    /// The number of lanes from the first to the last one that is read.
    pub fn read(&self) -> usize {
        (self.count - 1) * self.read_pitch + self.width
    }

    /// The number of lanes from the first to the last one that is written.
    pub fn written(&self) -> usize {
        (self.count - 1) * self.write_pitch + self.width
    }
}

/// The lengths of blocks: loops of constant length are vectorised without a scalar rest.
const LONG: usize = 64;
const SHORT: usize = 16;

/// The length of blocks for lanes of 8 bits.
const LONGEST: usize = 256;

/// Visits a row in blocks of a few lengths, which are constants where `visit` is inlined. The last block may overlap
/// the one before it, so visiting a lane twice must give the same result.
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
    in_short_blocks(at, width, visit);
}

/// Visits the rest of a row, beginning with lane `at`.
#[inline(always)]
fn in_short_blocks(mut at: usize, width: usize, mut visit: impl FnMut(usize, usize)) {
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
        /// Reduces lanes alone, or lanes that contain their position. With `CHECKS_NAN` it returns whether the first
        /// source has a NaN.
        #[inline(always)]
        #[allow(clippy::too_many_arguments)]
        fn $values<L: Lane, const MORE: bool, const CHECKS_NAN: bool>(
            rows: Rows,
            best: &mut [L],
            $($lane: &[L], $ahead: i32),+
        ) -> bool {
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn block<L: Lane, const MORE: bool, const CHECKS_NAN: bool>(
                length: usize,
                best: &mut [L],
                $($lane: &[L], $ahead: i32),+
            ) -> bool {
                let best = &mut best[..length];
                $(let $lane = &$lane[..length];)+
                for i in 0..length {
                    let value = if MORE { best[i] } else { L::LOWEST };
                    $(let value = value.step($lane[i], $ahead);)+
                    best[i] = value;
                }
                CHECKS_NAN && [$($lane),+][0].iter().fold(false, |any, lane| any | lane.is_nan())
            }
            /// Reduces blocks of one length, and returns the number of their lanes.
            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn blocks<L: Lane, const MORE: bool, const CHECKS_NAN: bool, const LENGTH: usize>(
                best: &mut [L],
                $($lane: &[L], $ahead: i32),+
            ) -> (usize, bool) {
                let (best, _) = best.as_chunks_mut::<LENGTH>();
                $(let $lane = &$lane.as_chunks::<LENGTH>().0[..best.len()];)+
                let mut found = false;
                for i in 0..best.len() {
                    found |= block::<L, MORE, CHECKS_NAN>(LENGTH, &mut best[i], $(&$lane[i], $ahead),+);
                }
                (best.len() * LENGTH, found)
            }
            let mut found = false;
            for row in 0..rows.count {
                let best = &mut best[row * rows.write_pitch..][..rows.width];
                $(let $lane = &$lane[row * rows.read_pitch..][..rows.width];)+
                let mut at = 0;
                if size_of::<L>() == 1 {
                    at += blocks::<L, MORE, false, LONGEST>(best, $($lane, $ahead),+).0;
                }
                let (lanes, found_here) =
                    blocks::<L, MORE, CHECKS_NAN, LONG>(&mut best[at..], $(&$lane[at..], $ahead),+);
                at += lanes;
                found |= found_here;
                in_short_blocks(
                    at,
                    rows.width,
                    #[inline(always)]
                    |at, length| {
                        found |= block::<L, MORE, CHECKS_NAN>(length, &mut best[at..], $(&$lane[at..], $ahead),+);
                    },
                );
            }
            found
        }

        /// Reduces lanes without positions, and writes the position of the greatest.
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
                let best = &mut best[row * rows.write_pitch..][..rows.width];
                let positions = &mut positions[row * rows.write_pitch..][..rows.width];
                $(let $lane = &$lane[row * rows.read_pitch..][..rows.width];)+
                in_blocks(
                    rows.width,
                    #[inline(always)]
                    |at, length| {
                        block::<L, MORE>(length, &mut best[at..], &mut positions[at..], $(&$lane[at..], $ahead),+)
                    },
                );
            }
        }

        /// Reduces lanes with positions.
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
                let best = &mut best[row * rows.write_pitch..][..rows.width];
                let positions = &mut positions[row * rows.write_pitch..][..rows.width];
                $(let $lane = &$lane[row * rows.read_pitch..][..rows.width];)+
                $(let $position = &$position[row * rows.read_pitch..][..rows.width];)+
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

/// The most taps in the first call of a loop, and in further calls.
pub(crate) const AT_ONCE: usize = 5;
pub(crate) const MORE_AT_ONCE: usize = 4;

/// Calls the loop with the right number of sources. The last source may be repeated, because a lane is not greater than
/// itself.
macro_rules! by_count {
    (
        $simd:ident, $more:expr, $sources:ident, |$own:ident|
        $two:expr, $three:expr, $four:expr, $five:expr, $four_more:expr
    ) => {{
        let Some(&last) = $sources.last() else { return Default::default() };
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
    }};
}

/// Reduces up to five slices, each with its distance in taps; or up to four slices and, if `more`, the lanes in `best`.
pub(crate) fn values<L: Lane>(simd: SimdLevel, rows: Rows, best: &mut [L], sources: &[(&[L], i32)], more: bool) {
    values_of::<L, false>(simd, rows, best, sources, more);
}

#[inline(always)]
fn values_of<L: Lane, const CHECKS_NAN: bool>(
    simd: SimdLevel,
    rows: Rows,
    best: &mut [L],
    sources: &[(&[L], i32)],
    more: bool,
) -> bool {
    by_count!(
        simd,
        more && !CHECKS_NAN,
        sources,
        |s| values2::<L, false, CHECKS_NAN>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1),
        values3::<L, false, CHECKS_NAN>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1),
        values4::<L, false, CHECKS_NAN>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1, s[3].0, s[3].1),
        values5::<L, false, CHECKS_NAN>(
            rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1, s[3].0, s[3].1, s[4].0, s[4].1
        ),
        values4::<L, true, false>(rows, best, s[0].0, s[0].1, s[1].0, s[1].1, s[2].0, s[2].1, s[3].0, s[3].1)
    )
}

/// Reduces any number of sources. With `checks_nan` it returns whether the first source has a NaN.
pub(crate) fn reduce<'a, L: Lane>(
    simd: SimdLevel,
    rows: Rows,
    best: &mut [L],
    (count, checks_nan): (usize, bool),
    source: impl Fn(usize) -> &'a [L],
) -> bool {
    let of = |numbers: Range<usize>| -> [_; AT_ONCE] {
        std::array::from_fn(|number| (source((numbers.start + number).min(numbers.end - 1)), 0))
    };
    let first = count.min(AT_ONCE);
    let sources = &of(0..first)[..first];
    let found = match L::HAS_NAN && checks_nan {
        true => values_of::<L, true>(simd, rows, best, sources, false),
        false => values_of::<L, false>(simd, rows, best, sources, false),
    };
    for next in (first..count).step_by(MORE_AT_ONCE) {
        let numbers = next..count.min(next + MORE_AT_ONCE);
        values(simd, rows, best, &of(numbers.clone())[..numbers.len()], true);
    }
    found
}

/// A slice of lanes, the slice of their positions, and the distance to add to the positions.
type PositionedLanes<'a, L> = (&'a [L], &'a [<L as Positioned>::Position], <L as Positioned>::Position);

/// Like [`values`] for lanes without positions; writes positions too.
pub(crate) fn first<L: Positioned>(
    simd: SimdLevel,
    rows: Rows,
    best: &mut [L],
    at: &mut [L::Position],
    sources: &[PositionedLanes<'_, L>],
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

/// Like [`values`] for lanes with positions.
pub(crate) fn positioned<L: Positioned>(
    simd: SimdLevel,
    rows: Rows,
    best: &mut [L],
    at: &mut [L::Position],
    sources: &[PositionedLanes<'_, L>],
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

/// Copies the elements that are NaN, and leaves the others.
pub(crate) fn copy_nan<T: Element>(simd: SimdLevel, rows: Rows, to: &mut [T], from: &[T]) {
    // All elements are read before any is written, so the compiler need not prove that the slices do not overlap.
    #[inline(always)]
    fn block<T: Element>(to: &mut [T; SHORT], from: &[T; SHORT]) {
        let mut own = *to;
        for i in 0..SHORT {
            own[i] = if from[i].is_nan() { from[i] } else { own[i] };
        }
        *to = own;
    }
    #[inline(always)]
    fn all<T: Element>(rows: Rows, to: &mut [T], from: &[T]) {
        for row in 0..rows.count {
            let to = &mut to[row * rows.write_pitch..][..rows.width];
            let from = &from[row * rows.read_pitch..][..rows.width];
            let (blocks, _) = from.as_chunks();
            to.as_chunks_mut().0.iter_mut().zip(blocks).for_each(
                #[inline(always)]
                |(to, from)| block(to, from),
            );
            if let (Some(to), Some(from)) = (to.last_chunk_mut(), from.last_chunk()) {
                block(to, from);
            }
        }
    }
    if rows.width < SHORT {
        for place in (0..rows.count)
            .flat_map(|row| (0..rows.width).map(move |at| (row * rows.read_pitch + at, row * rows.write_pitch + at)))
        {
            if from[place.0].is_nan() {
                to[place.1] = from[place.0];
            }
        }
        return;
    }
    simd.run(
        #[inline(always)]
        || all(rows, to, from),
    );
}

/// Whether a lane is NaN, or decoding it does not return its element.
#[inline(always)]
pub(crate) fn is_nan_or_lossy<C: Code>(lane: C::Lane, element: C::Element) -> bool {
    (C::Lane::HAS_NAN && lane.is_nan()) | C::is_lossy(element)
}

/// Inverts these bits of the elements of rows.
pub(crate) fn invert<T: Element>(simd: SimdLevel, rows: Rows, elements: &mut [T], bits: u64) {
    simd.run(
        #[inline(always)]
        || {
            for row in elements.chunks_mut(rows.write_pitch.max(1)).take(rows.count) {
                row[..rows.width].iter_mut().for_each(|own| *own = inverted(*own, bits));
            }
        },
    );
}

/// Encodes a row of elements as lanes, with these bits inverted. Returns whether there is an element that
/// [`is_nan_or_lossy`]. It is inlined into the loops of its callers.
#[inline(always)]
pub(crate) fn encode_row<C: Code>(elements: &[C::Element], lanes: &mut [C::Lane], bits: u64) -> bool {
    if bits != 0 {
        let mut found = false;
        for (lane, element) in lanes.iter_mut().zip(elements) {
            let element = inverted(*element, bits);
            *lane = C::encode(element);
            found |= is_nan_or_lossy::<C>(*lane, element);
        }
        return found;
    }
    #[inline(always)]
    fn block<C: Code>(length: usize, elements: &[C::Element], lanes: &mut [C::Lane]) -> u32 {
        let (elements, lanes) = (&elements[..length], &mut lanes[..length]);
        let mut found = 0;
        match C::KEEPS_BITS {
            true => {
                let own = bytemuck::cast_slice(elements);
                lanes.copy_from_slice(own);
                for lane in own {
                    found |= u32::from(C::Lane::HAS_NAN && lane.is_nan());
                }
            }
            false => {
                // There are two loops because their results per element differ in width.
                for i in 0..length {
                    lanes[i] = C::encode(elements[i]);
                }
                found |= u32::from(
                    elements.iter().fold(false, |found, &own| found | is_nan_or_lossy::<C>(C::encode(own), own)),
                );
            }
        }
        found
    }
    let mut found = 0;
    in_blocks(
        lanes.len(),
        #[inline(always)]
        |at, length| found |= block::<C>(length, &elements[at..], &mut lanes[at..]),
    );
    found != 0
}

/// Decodes rows of lanes to elements.
pub(crate) fn decode<C: Code>(simd: SimdLevel, rows: Rows, elements: &mut [C::Element], lanes: &[C::Lane]) {
    simd.run(
        #[inline(always)]
        || {
            for row in 0..rows.count {
                let elements = &mut elements[row * rows.write_pitch..][..rows.width];
                let lanes = &lanes[row * rows.read_pitch..][..rows.width];
                elements.iter_mut().zip(lanes).for_each(|(element, &lane)| *element = C::decode(lane));
            }
        },
    );
}

/// Copies rows.
pub(crate) fn copy<L: Copy>(simd: SimdLevel, rows: Rows, to: &mut [L], from: &[L]) {
    simd.run(
        #[inline(always)]
        || {
            for row in 0..rows.count {
                let to = &mut to[row * rows.write_pitch..][..rows.width];
                let from = &from[row * rows.read_pitch..][..rows.width];
                in_blocks(
                    rows.width,
                    #[inline(always)]
                    |at, length| to[at..][..length].copy_from_slice(&from[at..][..length]),
                );
            }
        },
    );
}
