//! The loop of small windows that share rows of X. A tile of outputs, some vectors wide, is computed from top to bottom:
//!
//! ```text
//! row 0 of X   reduced along itself: r0
//! row 1                              r1
//! row 2                              r2   outputs 0: max(r0, r1, r2)
//! row 3                              r3   outputs 1: max(r1, r2, r3)     r3 takes the place of r0
//! ```
//!
//! Each row of X is reduced once, whichever windows it belongs to. Taps in the padding beside a row are the lowest element in
//! their lanes and rows of padding are left out, so the outputs at the borders are computed as all others are.
//!
//! Let c(v) be v, or the lowest element if v is NaN. A reduced row is the first of the greatest c(v) among its taps, because
//! it begins with the lowest element, which NaN never replaces; and so is the maximum m of the rows, which are taken from the
//! top down. The rule begins with the window's first element and ends with m if that is greater, else with the first element:
//! with its sign, if it is a zero, and if it is NaN. Where NaN wins, m is the last NaN, if there is one: it replaces what is
//! before it, and no later element is greater than it.

use std::ops::Range;

use bytemuck::Zeroable;
use fearless_simd::{Select, Simd, SimdBase, SimdMask};

use super::axes::Axis;
use super::simd::VectorLoop;
use super::taps::MOST_LANES;
use super::vector::VectorCode;

/// The most reduced rows that are kept.
pub(crate) const MOST_KEPT: usize = 16;

/// Windows along an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Along {
    pub input: usize,
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    /// Positions of padding before the first element.
    pub pad: i64,
}

impl Along {
    pub fn of(axis: &Axis) -> Along {
        let Axis { input, kernel, stride, dilation, .. } = *axis;
        Along { input, kernel, stride, dilation, pad: -axis.start(0) }
    }
}

/// Windows that share rows of X, each of which is one run of memory.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Along a row, and its outputs. In NHWC the channels of a position are neighbours, and a tap is as many elements from
    /// the one before as there are channels.
    pub along: Along,
    pub width: usize,
    /// The axis that leads from row to row.
    pub down: usize,
}

impl Shared {
    /// `channels` is the number of channels that lie side by side.
    pub fn of(axes: &[Axis], channels: usize) -> Option<Shared> {
        let spatial = if channels == 1 { axes } else { &axes[..axes.len() - 1] };
        let [_, others @ .., down, along] = spatial else { return None };
        let planes = others.iter().map(|axis| axis.kernel).product::<usize>();
        let overlap = down.kernel > down.stride && (down.stride == 1 || down.dilation == 1);
        // Reduced rows are kept while they are in use.
        let kept = planes.saturating_mul(down.kernel).saturating_mul(down.dilation);
        if along.stride > 1 || along.kernel > TAPS || !overlap || kept > MOST_KEPT {
            return None;
        }
        let Along { input, kernel, stride, dilation, pad } = Along::of(along);
        let own = Along {
            input: input.checked_mul(channels)?,
            kernel,
            stride,
            dilation: dilation.checked_mul(channels)?,
            pad: pad.checked_mul(i64::try_from(channels).ok()?)?,
        };
        Some(Shared { along: own, width: along.output.checked_mul(channels)?, down: spatial.len() - 2 })
    }
}

/// What is done for rows of outputs, one step after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RowStep {
    /// A row of X is reduced and kept. It begins `row` elements after the first element of one of the planes.
    Reduce { plane: usize, row: usize, slot: usize },
    /// A row of outputs is put together from kept rows, in the order of their taps, the first of which begins `row` elements
    /// after the first element of the first plane.
    Write { row: usize, slots: Range<usize> },
}

/// The steps of rows of outputs whose windows have rows of some planes of X, and the slots of kept rows that steps name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowSteps {
    steps: Vec<RowStep>,
    slots: Vec<usize>,
}

impl RowSteps {
    /// `x_step` is the number of elements from one row of X to the next.
    pub fn of(down: &Along, rows: Range<usize>, planes: usize, x_step: usize) -> RowSteps {
        let Along { input, kernel, stride, dilation, pad } = *down;
        let mut own = RowSteps { steps: Vec::new(), slots: Vec::new() };
        // A row takes the place of another one that no window needs any more.
        let turn = kernel * dilation;
        let slot = |plane: usize, row: usize| plane * turn + row % turn;
        let first = |output: usize| (output * stride) as i64 - pad;
        let mut next = first(rows.start).max(0) as usize;
        for output in rows {
            let taps = || (0..kernel).map(|tap| first(output) + (tap * dilation) as i64);
            let inside = || taps().filter_map(|row| usize::try_from(row).ok().filter(|&row| row < input));
            let (Some(top), Some(bottom)) = (inside().next(), inside().next_back()) else { continue };
            for row in next..bottom + 1 {
                let reduce = |plane| RowStep::Reduce { plane, row: row * x_step, slot: slot(plane, row) };
                own.steps.extend((0..planes).map(reduce));
            }
            next = next.max(bottom + 1);
            let begin = own.slots.len();
            own.slots.extend((0..planes).flat_map(|plane| inside().map(move |row| slot(plane, row))));
            own.steps.push(RowStep::Write { row: top * x_step, slots: begin..own.slots.len() });
        }
        own
    }
}

/// Rows of outputs of consecutive planes.
#[derive(Debug, Clone)]
pub(crate) struct RowsOfPlanes<'a> {
    /// Along a row, with a stride of 1, and from row to row.
    pub along: Along,
    pub steps: &'a RowSteps,
    /// Outputs of a row.
    pub width: usize,
    /// Where the planes of X begin whose rows belong to the windows of the first plane of outputs, in the order of their taps.
    pub planes: &'a [usize],
    /// Planes of outputs, and elements from one to the next: of X and of Y.
    pub count: usize,
    pub x_step: usize,
    pub y_step: usize,
}

type Mask<C, S> = <<C as VectorCode>::Vector<S> as SimdBase<S>>::Mask;

/// The loop. It may write what lies behind the rows of outputs, which has to be computed afterwards.
pub(crate) struct SharedRows<'a, C: VectorCode> {
    pub rows: RowsOfPlanes<'a>,
    pub x: &'a [C::Stored],
    pub y: &'a mut [C::Stored],
    /// What windows begin with instead of their first element.
    pub seed: Option<C::Stored>,
    pub nan_wins: bool,
}

/// The most vectors of a block, and blocks of a tile.
const MOST_VECTORS: usize = 4;
const MOST_BLOCKS: usize = 4;
/// Room for the taps of a row.
const TAPS: usize = 8;

/// The reduced rows of a tile.
type Kept<B> = [[[B; MOST_VECTORS]; MOST_BLOCKS]; MOST_KEPT];

/// Vectors of outputs beside each other.
#[derive(Clone, Copy)]
struct Block<M> {
    /// The first output of a row.
    at: usize,
    /// Whether there are taps in the padding beside the row, and which lanes of each tap are not.
    border: bool,
    inside: [[M; MOST_VECTORS]; TAPS],
}

/// Blocks beside each other, which are computed from top to bottom before those beside them.
struct Tile<M> {
    blocks: [Block<M>; MOST_BLOCKS],
    count: usize,
}

impl<C: VectorCode> VectorLoop for SharedRows<'_, C> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        if C::HAS_NAN && self.nan_wins {
            return self.run_of_policy::<S, true>(simd);
        }
        self.run_of_policy::<S, false>(simd);
    }
}

impl<C: VectorCode> SharedRows<'_, C> {
    #[inline(always)]
    fn run_of_policy<S: Simd, const NAN_WINS: bool>(&mut self, simd: S) {
        match self.rows.width.div_ceil(C::Vector::<S>::LEN) {
            0..=1 => self.planes::<S, NAN_WINS, 1>(simd),
            2 => self.planes::<S, NAN_WINS, 2>(simd),
            _ => self.planes::<S, NAN_WINS, 4>(simd),
        }
    }

    /// All outputs, by blocks of `VECTORS` vectors.
    #[inline(always)]
    fn planes<S: Simd, const NAN_WINS: bool, const VECTORS: usize>(&mut self, simd: S) {
        let outputs = VECTORS * C::Vector::<S>::LEN;
        let nothing = C::begin(simd, C::Vector::splat(simd, C::LOWEST));
        let mut kept = [[[nothing; MOST_VECTORS]; MOST_BLOCKS]; MOST_KEPT];
        for first in (0..self.rows.width).step_by(MOST_BLOCKS * outputs) {
            let tile = self.tile(simd, first, outputs);
            for plane in 0..self.rows.count {
                self.down::<S, NAN_WINS, VECTORS>(simd, plane, &tile, &mut kept);
            }
        }
    }

    /// The tile from an output on, by blocks of some outputs. The last block has outputs before it once more, if a row has as
    /// many.
    #[inline(always)]
    fn tile<S: Simd>(&self, simd: S, first: usize, outputs: usize) -> Tile<Mask<C, S>> {
        let lanes = C::Vector::<S>::LEN;
        let width = self.rows.width;
        let count = (width - first).div_ceil(outputs).min(MOST_BLOCKS);
        let inside = [[Mask::<C, S>::splat(simd, true); MOST_VECTORS]; TAPS];
        let mut tile = Tile { blocks: [Block { at: 0, border: false, inside }; MOST_BLOCKS], count };
        let Along { input, kernel, dilation, pad, .. } = self.rows.along;
        for (number, block) in tile.blocks.iter_mut().enumerate().take(count) {
            block.at = (first + number * outputs).min(width.saturating_sub(outputs));
            let begin = block.at as i64 - pad;
            let end = begin + ((kernel - 1) * dilation + outputs.min(width)) as i64;
            block.border = begin < 0 || end > input as i64;
            if !block.border {
                continue;
            }
            for (tap, inside) in block.inside.iter_mut().enumerate().take(kernel) {
                for (vector, inside) in inside.iter_mut().enumerate() {
                    // Lane i has position `first` + i.
                    let first = begin + (tap * dilation + vector * lanes) as i64;
                    let below = |lanes: i64| u64::MAX.checked_shr(64 - lanes.clamp(0, 64) as u32).unwrap_or(0);
                    let lanes = below(input as i64 - first) & !below(-first);
                    *inside = Mask::<C, S>::from_bitmask(simd, lanes);
                }
            }
        }
        tile
    }

    #[inline(always)]
    fn down<S: Simd, const NAN_WINS: bool, const VECTORS: usize>(
        &mut self,
        simd: S,
        plane: usize,
        tile: &Tile<Mask<C, S>>,
        kept: &mut Kept<C::Best<S>>,
    ) {
        let RowsOfPlanes { steps, width, planes, x_step, y_step, .. } = self.rows;
        let (before, mut place) = (plane * x_step, plane * y_step);
        // A block of fewer vectors is as wide as a row.
        let count = if VECTORS == MOST_VECTORS { tile.count } else { 1 };
        for step in &steps.steps {
            match step {
                RowStep::Reduce { plane, row, slot } => {
                    let row = planes[*plane] + before + row;
                    let kept = &mut kept[slot % MOST_KEPT];
                    for (block, kept) in tile.blocks.iter().zip(kept).take(count) {
                        match block.border {
                            true => self.reduce::<S, NAN_WINS, true, VECTORS>(simd, block, row, kept),
                            false => self.reduce::<S, NAN_WINS, false, VECTORS>(simd, block, row, kept),
                        }
                    }
                }
                RowStep::Write { row, slots } => {
                    let row = planes[0] + before + row;
                    for (number, block) in tile.blocks.iter().enumerate().take(count) {
                        let Some((first, others)) = steps.slots[slots.clone()].split_first() else { continue };
                        let first = &kept[first % MOST_KEPT][number];
                        let mut best = [first[0]; VECTORS];
                        best.copy_from_slice(&first[..VECTORS]);
                        for slot in others {
                            let next = &kept[slot % MOST_KEPT][number];
                            for vector in 0..VECTORS {
                                best[vector] = C::step::<S, NAN_WINS>(simd, best[vector], C::elements(next[vector]));
                            }
                        }
                        if self.seed.is_some() || C::HAS_NAN && !NAN_WINS {
                            let first = self.first_elements::<S, VECTORS>(simd, block, row);
                            for vector in 0..VECTORS {
                                let first = C::begin(simd, first[vector]);
                                best[vector] = C::step::<S, NAN_WINS>(simd, first, C::elements(best[vector]));
                            }
                        }
                        self.write::<S, VECTORS>(place + block.at, &best);
                    }
                    place += width;
                }
            }
        }
    }

    #[inline(always)]
    fn write<S: Simd, const VECTORS: usize>(&mut self, place: usize, best: &[C::Best<S>; VECTORS]) {
        let lanes = C::Vector::<S>::LEN;
        let y = &mut self.y[place..];
        if let Some(y) = y.get_mut(..VECTORS * lanes) {
            for vector in 0..VECTORS {
                C::elements(best[vector]).store_slice(&mut y[vector * lanes..][..lanes]);
            }
            return;
        }
        for (y, best) in y.chunks_mut(lanes).zip(best) {
            store_some(y, C::elements(*best).as_slice());
        }
    }

    /// The greatest of the taps in a row of X.
    #[inline(always)]
    fn reduce<S: Simd, const NAN_WINS: bool, const BORDER: bool, const VECTORS: usize>(
        &self,
        simd: S,
        block: &Block<Mask<C, S>>,
        row: usize,
        kept: &mut [C::Best<S>; MOST_VECTORS],
    ) {
        let lowest = C::Vector::splat(simd, C::LOWEST);
        let mut best = [C::begin(simd, lowest); VECTORS];
        for tap in 0..self.rows.along.kernel {
            let next = self.tap::<S, VECTORS>(simd, row + block.at, tap);
            let inside = &block.inside[tap % TAPS];
            for vector in 0..VECTORS {
                let mut next = next[vector];
                if BORDER {
                    next = inside[vector].select(next, lowest);
                }
                best[vector] = C::step::<S, NAN_WINS>(simd, best[vector], next);
            }
        }
        kept[..VECTORS].copy_from_slice(&best);
    }

    /// What windows begin with: their first elements, given the first row of X that they have, or the seed.
    #[inline(always)]
    fn first_elements<S: Simd, const VECTORS: usize>(
        &self,
        simd: S,
        block: &Block<Mask<C, S>>,
        row: usize,
    ) -> [C::Vector<S>; VECTORS] {
        if let Some(seed) = self.seed {
            return [C::Vector::splat(simd, seed); VECTORS];
        }
        let mut first = self.tap::<S, VECTORS>(simd, row + block.at, 0);
        // Where there is padding before the row, the first tap that is not in it.
        if (block.at as i64) < self.rows.along.pad {
            for tap in (0..self.rows.along.kernel).rev() {
                let next = self.tap::<S, VECTORS>(simd, row + block.at, tap);
                let inside = &block.inside[tap % TAPS];
                for vector in 0..VECTORS {
                    first[vector] = inside[vector].select(next[vector], first[vector]);
                }
            }
        }
        first
    }

    /// One tap of neighbouring windows, given the place in X of the first of them without padding.
    #[inline(always)]
    fn tap<S: Simd, const VECTORS: usize>(&self, simd: S, place: usize, tap: usize) -> [C::Vector<S>; VECTORS] {
        let (lanes, along) = (C::Vector::<S>::LEN, self.rows.along);
        let first = (place + tap * along.dilation) as i64 - along.pad;
        let mut taps = [C::Vector::splat(simd, C::LOWEST); VECTORS];
        if let Some(x) = self.x.get(first as usize..).and_then(|x| x.get(..VECTORS * lanes)) {
            for (tap, x) in taps.iter_mut().zip(x.chunks_exact(lanes)) {
                *tap = C::Vector::from_slice(simd, x);
            }
            return taps;
        }
        for (vector, tap) in taps.iter_mut().enumerate() {
            let mut own = [C::Stored::zeroed(); MOST_LANES];
            load_some(&mut own[..lanes], self.x, first + (vector * lanes) as i64);
            *tap = C::Vector::from_slice(simd, &own[..lanes]);
        }
        taps
    }
}

/// The elements of a vector that reaches beyond X.
#[cold]
fn load_some<T: Copy>(to: &mut [T], x: &[T], place: i64) {
    for (to, place) in to.iter_mut().zip(place..) {
        if let Some(x) = usize::try_from(place).ok().and_then(|place| x.get(place)) {
            *to = *x;
        }
    }
}

/// Writes the first elements of a vector.
#[inline(never)]
fn store_some<T: Copy>(to: &mut [T], elements: &[T]) {
    to.iter_mut().zip(elements).for_each(|(to, element)| *to = *element);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::kernels::axes::axes;
    use crate::cpu::kernels::view::View;
    use crate::element::DType;
    use crate::ops::MaxPool;
    use crate::options::Layout;

    #[test]
    fn taps_farther_apart_than_any_memory_are_no_overflow() {
        let pool = MaxPool::new([2, 2]).dilations([1, 4096]).pads([0, 4096, 0, 0]).layout(Layout::Nhwc);
        for (channels, is_shared) in [(64, true), (1 << 53, false)] {
            let plan = pool.plan(&[1, 3, 2, channels], DType::U8, None).unwrap();
            let view = View::of(&plan).unwrap();
            assert_eq!(Shared::of(&axes(&view).unwrap(), view.inner).is_some(), is_shared);
        }
    }

    #[test]
    fn every_row_is_reduced_once_and_is_there_when_it_is_needed() {
        for (input, kernel, stride, dilation, pad) in [
            (7, 3, 1, 1, 1),
            (7, 3, 2, 1, 1),
            (7, 3, 1, 2, 1),
            (9, 3, 1, 2, 2),
            (5, 5, 1, 1, 2),
            (6, 3, 1, 3, 3),
            (8, 4, 3, 1, 2),
        ] {
            let down = Along { input, kernel, stride, dilation, pad };
            let outputs = (input + 2 * pad as usize - (kernel - 1) * dilation - 1) / stride + 1;
            for planes in [1, 2] {
                let RowSteps { steps, slots } = RowSteps::of(&down, 0..outputs, planes, 10);
                let mut kept = [None; 2 * MOST_KEPT];
                let (mut reduced, mut output) = (Vec::new(), 0);
                for step in steps {
                    match step {
                        RowStep::Reduce { plane, row, slot } => {
                            kept[slot] = Some((plane, row));
                            reduced.push((plane, row));
                        }
                        RowStep::Write { row, slots: range } => {
                            let taps = (0..kernel).map(|tap| (output * stride + tap * dilation) as i64 - pad);
                            let inside =
                                taps.filter(|row| (0..input as i64).contains(row)).map(|row| row as usize * 10);
                            let inside: Vec<usize> = inside.collect();
                            let expected = (0..planes).flat_map(|plane| inside.iter().map(move |&row| (plane, row)));
                            let read = slots[range].iter().filter_map(|&slot| kept[slot]);
                            assert_eq!(read.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
                            assert_eq!(row, inside[0]);
                            output += 1;
                        }
                    }
                }
                assert_eq!(output, outputs);
                let count = reduced.len();
                reduced.sort_unstable();
                reduced.dedup();
                assert_eq!(reduced.len(), count);
            }
        }
    }
}
