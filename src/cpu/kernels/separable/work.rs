//! A part of a pool in the making: block after block, row after row.

use super::block::{Block, OutputRow};
use super::finish::{self, Indices, Row};
use super::form;
use super::lane::{Code, Narrow, Packed, Positioned, WithTap};
use super::layout::Layout;
use super::load::{Look, load};
use super::pool::Separable;
use super::tables::Tables;
use crate::activation;
use crate::attributes::Activation;
use crate::cpu::kernels::general;
use crate::cpu::kernels::parts::Part;
use crate::cpu::kernels::scratch::Scratch;
use crate::cpu::kernels::simd::SimdLevel;
use crate::cpu::kernels::view::View;
use crate::element::{DType, Element};
use crate::error::ExecuteError;
use crate::options::NanPolicy;
use crate::plan::{MAX_SPATIAL_AXES, PoolPlan};

/// A part of a pool's outputs, its tensors, and how it is computed.
pub(crate) struct PartOf<'a> {
    pub plan: &'a PoolPlan,
    pub view: &'a View,
    pub part: &'a Part,
    pub simd: SimdLevel,
}

/// A part in the making.
pub(crate) struct Work<'a, 'i> {
    own: &'a Separable,
    part: &'a PartOf<'a>,
    tables: Tables,
    indices: Indices<'i>,
    scratch: &'a mut Scratch,
}

/// A row of outputs on its way from lanes to Y.
pub(crate) struct RowAt {
    /// Its first output in the part's Y, and the first slot of its maxima.
    y: usize,
    slot: usize,
    /// The array and the slot of its windows' first elements, and the place of that row in X.
    first_array: usize,
    first_slot: usize,
    first_place: usize,
    /// The index of the first window's first tap, and what the first element of X adds.
    base: i64,
    other: i64,
    /// The place in X of the first window's first tap, padding included.
    start_place: i64,
}

impl<'a, 'i> Work<'a, 'i> {
    pub fn new(own: &'a Separable, part: &'a PartOf<'a>, indices: Indices<'i>, scratch: &'a mut Scratch) -> Self {
        Work { own, part, tables: Tables::default(), indices, scratch }
    }

    fn seeds_lowest(&self) -> bool {
        self.part.plan.nan_policy == NanPolicy::SeedLowest
    }

    /// Visits the part's blocks, each with its layout.
    fn each_block(
        &mut self,
        mut visit: impl FnMut(&mut Self, &Block<'_>) -> Result<(), ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let axes = &self.own.axes;
        let ranges = self.ranges();
        let mut first: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        let mut layout: Option<Layout> = None;
        loop {
            let left = ranges.iter().zip(&first).map(|(range, first)| range.end - first);
            let outputs: Vec<usize> = left.zip(&self.own.block).map(|(left, &block)| left.min(block)).collect();
            let fits = layout.take().filter(|layout| layout.outputs == outputs);
            let own = layout.insert(fits.unwrap_or_else(|| Layout::new(axes, &self.own.steps[0], &outputs)));
            let block = Block::new(axes, own, &first);
            self.tables.fill(axes, &block, self.part.plan.nan_policy, self.part.view.inner != 1);
            visit(self, &block)?;
            // The next block, the innermost axis fastest.
            let next = (0..axes.len()).rev().find(|&axis| first[axis] + self.own.block[axis] < ranges[axis].end);
            let Some(axis) = next else { return Ok(()) };
            first[axis] += self.own.block[axis];
            (axis + 1..axes.len()).for_each(|inner| first[inner] = ranges[inner].start);
        }
    }

    /// The part's outputs along each axis.
    fn ranges(&self) -> Vec<std::ops::Range<usize>> {
        let Part { outer, rows } = self.part.part;
        let rest = self.own.axes[2..].iter().map(|axis| 0..axis.output);
        [outer.clone(), rows.clone()].into_iter().chain(rest).collect()
    }

    /// Visits the rows of a block that have elements in their windows, writes the ones that have none, and applies the
    /// activation to all.
    fn each_row<T: Element>(
        &mut self,
        block: &Block<'_>,
        y: &mut [T],
        mut visit: impl FnMut(&mut Self, &RowAt, &mut [T]),
    ) {
        let (axes, ranges) = (&self.own.axes, self.ranges());
        let last = axes.len() - 1;
        let length = block.layout.outputs[last];
        block.each_output_row(|row| {
            let outputs = row.at.iter().zip(block.first).map(|(at, first)| first + at);
            let mut place = 0;
            for ((range, output), _) in ranges.iter().zip(outputs.chain([block.first[last]])).zip(axes) {
                place = place * range.len() + output - range.start;
            }
            let own = &mut y[place..place + length];
            match self.row(block, &row, place) {
                Some(at) => visit(self, &at, own),
                None => (0..length).for_each(|lane| self.write_empty(block, &row, lane, place, own)),
            }
            for number in 0..self.tables.empty.len() {
                self.write_empty(block, &row, self.tables.empty[number], place, own);
            }
            activate(self.part.plan.activation, own);
        });
    }

    /// A row of outputs; `None` if its windows are empty.
    fn row(&self, block: &Block<'_>, row: &OutputRow<'_>, y: usize) -> Option<RowAt> {
        let (axes, view) = (&self.own.axes, self.part.view);
        let last = axes.len() - 1;
        let plane = view.index_of_plane(block.first[0] + row.at[0]);
        let (mut base, mut other) = (view.index_base.wrapping_add(plane), 0i64);
        let mut start_place = block.start[last] * axes[last].x_stride as i64;
        base = base.wrapping_add(block.start[last].wrapping_mul(axes[last].index_stride));
        let mut positions = vec![0; last];
        for (number, axis) in axes[..last].iter().enumerate() {
            let output = block.first[number] + row.at[number];
            if axis.is_empty(output) {
                return None;
            }
            let ahead = axis.skipped(output) * axis.dilation;
            positions[number] = row.at[number] * axis.stride + ahead;
            base = base.wrapping_add(axis.start(output).wrapping_mul(axis.index_stride));
            other = other.wrapping_add((ahead as i64).wrapping_mul(axis.index_stride));
            start_place += axis.start(output) * axis.x_stride as i64;
        }
        if self.seeds_lowest() {
            other = view.unit_base.wrapping_add(plane).wrapping_sub(base);
        }
        let first = block.row(axes, &positions)?;
        let (first_array, first_slot) = (first.array * axes[last].phase_count(), first.slot);
        Some(RowAt { y, slot: row.slot, first_array, first_slot, first_place: first.place?, base, other, start_place })
    }

    /// Writes an output whose window is empty.
    fn write_empty<T: Element>(
        &mut self,
        block: &Block<'_>,
        row: &OutputRow<'_>,
        lane: usize,
        place: usize,
        y: &mut [T],
    ) {
        let view = self.part.view;
        let outputs: Vec<usize> = self.output(block, row, lane).collect();
        let channel = if view.inner == 1 { 0 } else { outputs[outputs.len() - 1] };
        let plane = view.index_of_plane(outputs[0]).wrapping_add((channel as i64).wrapping_mul(view.index_c));
        let firsts = view.axes.iter().zip(&outputs[1..]).map(|(axis, &output)| axis.taps(output).first);
        y[lane] = self.part.plan.empty();
        self.indices.set(place + lane, view.empty_index(plane, firsts));
    }

    /// The output of a row's lane along each axis.
    fn output<'b>(
        &self,
        block: &'b Block<'_>,
        row: &'b OutputRow<'_>,
        lane: usize,
    ) -> impl Iterator<Item = usize> + 'b {
        block
            .first
            .iter()
            .zip(row.at.iter().chain(std::iter::once(&0)))
            .map(|(first, at)| first + at)
            .enumerate()
            .map(move |(axis, output)| if axis == row.at.len() { output + lane } else { output })
    }

    /// Values alone. Blocks whose elements do not all become lanes are left to `otherwise`.
    fn values_or<C: Code>(
        &mut self,
        x: &[C::Element],
        y: &mut [C::Element],
        look: Look,
        mut otherwise: impl FnMut(&mut Self, &Block<'_>, &mut [C::Element]) -> Result<(), ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let (own, simd) = (self.own, self.part.simd);
        let compares = matches!(C::Element::DTYPE, DType::F32 | DType::F64);
        let seeds = vec![C::encode(self.part.plan.seed()); own.block[own.axes.len() - 1]];
        self.each_block(|work, block| {
            let mut scratch = std::mem::take(work.scratch);
            let mut lanes = form::plain::<C::Lane>(&mut scratch, block.layout)?;
            let found = load::<C>(simd, &own.axes, block, x, lanes.loaded, look);
            if !found {
                form::reduce_plain(simd, (&own.axes, &own.steps), block.layout, &mut lanes);
                work.each_row(block, y, |work, row, y| {
                    let best = &lanes.reduced[row.slot..][..y.len()];
                    if !compares {
                        return finish::integers::<C>(simd, y, best);
                    }
                    let first = work.first::<C::Lane>(block, row, lanes.loaded, &seeds);
                    finish::floats::<C>(simd, y, first, best);
                });
            }
            *work.scratch = scratch;
            if found { otherwise(work, block, y) } else { Ok(()) }
        })
    }

    pub fn values<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        let look = self.look_for_nan::<C::Element>();
        self.values_or::<C>(x, y, look, |work, block, y| {
            work.general(block, x, y);
            Ok(())
        })
    }

    /// Values of floats of 16 bits, as integers that cannot tell all of them: where that matters, taps are noted and the
    /// elements are read again.
    pub fn halves<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError>
    where
        C::Lane: Narrow,
    {
        self.values_or::<C>(x, y, Look::ForSpecial, |work, block, y| work.packed_block::<WithTap<C>>(block, x, y))
    }

    /// Values and indices, with positions beside the lanes.
    pub fn placed<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError>
    where
        C::Lane: Positioned,
    {
        let (own, simd) = (self.own, self.part.simd);
        let look = self.look_for_nan::<C::Element>();
        let seeds = vec![C::encode(self.part.plan.seed()); own.block[own.axes.len() - 1]];
        self.each_block(|work, block| {
            let mut scratch = std::mem::take(work.scratch);
            let mut lanes = form::placed::<C::Lane>(&mut scratch, block.layout)?;
            let found = load::<C>(simd, &own.axes, block, x, lanes.lanes.loaded, look);
            if !found {
                form::reduce_placed(simd, (&own.axes, &own.steps), block.layout, &mut lanes);
                let positions = |of: &[i64]| of.iter().map(|&offset| C::Lane::position(offset)).collect::<Vec<_>>();
                let (along, other_along) = (positions(&work.tables.along), positions(&work.tables.other_along));
                let form::Placed { lanes, positions, .. } = &mut lanes;
                work.each_row(block, y, |work, row, y| {
                    let length = y.len();
                    let (best, at) = (&lanes.reduced[row.slot..][..length], &positions[row.slot..][..length]);
                    let first = work.first::<C::Lane>(block, row, lanes.loaded, &seeds);
                    let other = C::Lane::position(row.other);
                    let own = Row { base: row.base, along: &along, other, other_along: &other_along };
                    finish::placed::<C>(simd, y, work.indices.part(row.y..row.y + length), (first, best, at), own);
                });
            }
            *work.scratch = scratch;
            if found {
                work.general(block, x, y);
            }
            Ok(())
        })
    }

    /// Values and indices of elements of 8 and 16 bits, with taps in the lanes.
    pub fn packed<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError>
    where
        C::Lane: Narrow,
    {
        self.each_block(|work, block| work.packed_block::<WithTap<C>>(block, x, y))
    }

    fn packed_block<C: Code<Lane = Packed>>(
        &mut self,
        block: &Block<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError> {
        let (own, simd) = (self.own, self.part.simd);
        let nan = self.look_for_nan::<C::Element>();
        let look = if nan == Look::No && C::Element::DTYPE.is_float() { Look::ForSpecial } else { nan };
        let mut scratch = std::mem::take(self.scratch);
        let mut lanes = form::plain::<Packed>(&mut scratch, block.layout)?;
        let found = load::<C>(simd, &own.axes, block, x, lanes.loaded, look);
        let all_lanes = !(found && look == Look::ForNan);
        if all_lanes {
            // Where only NaN was looked for, there may be zeros with a sign.
            let read_again = found || look == Look::ForNan;
            form::reduce_plain(simd, (&own.axes, &own.steps), block.layout, &mut lanes);
            let narrow = |of: &[i64]| of.iter().map(|&offset| offset as i32).collect::<Vec<_>>();
            let (along, other_along) = (narrow(&self.tables.along), narrow(&self.tables.other_along));
            let seeds = vec![C::encode(self.part.plan.seed()); own.block[own.axes.len() - 1]];
            self.each_row(block, y, |work, row, y| {
                let length = y.len();
                let best = &lanes.reduced[row.slot..][..length];
                if read_again {
                    return work.read_again::<C>(block, row, (lanes.loaded, best), x, y);
                }
                let first = work.first::<Packed>(block, row, lanes.loaded, &seeds);
                let rows = Row { base: row.base, along: &along, other: row.other as i32, other_along: &other_along };
                let indices = work.indices.part(row.y..row.y + length);
                finish::packed::<C>(simd, y, indices, (first, best), &own.tap_offsets, rows);
            });
        }
        *self.scratch = scratch;
        if !all_lanes {
            self.general(block, x, y);
        }
        Ok(())
    }
}

impl Work<'_, '_> {
    /// Whether elements have to be looked at for NaN: where the last of them wins.
    fn look_for_nan<T: Element>(&self) -> Look {
        let looks = self.part.plan.nan_policy == NanPolicy::PropagateLast && T::DTYPE.is_float();
        if looks { Look::ForNan } else { Look::No }
    }

    /// The first elements of a row's windows, or what takes their place.
    fn first<'l, L: Copy>(&self, block: &Block<'_>, row: &RowAt, loaded: &'l mut [L], seeds: &'l [L]) -> &'l [L] {
        let length = block.layout.outputs[block.layout.outputs.len() - 1];
        if self.seeds_lowest() {
            return &seeds[..length];
        }
        let array = |phase: usize| (row.first_array + phase) * block.layout.pitch + row.first_slot;
        // The slots of padding take the first element of the window that begins there.
        for &(lane, phase, slot) in &self.tables.border {
            loaded[array(0) + lane] = loaded[array(phase) + slot];
        }
        &loaded[array(0)..][..length]
    }

    /// Values and indices of a row with elements that their lanes do not give back.
    fn read_again<C: Code<Lane = Packed>>(
        &mut self,
        block: &Block<'_>,
        row: &RowAt,
        (_, best): (&[Packed], &[Packed]),
        x: &[C::Element],
        y: &mut [C::Element],
    ) {
        let (own, plan) = (self.own, self.part.plan);
        let last = own.axes.len() - 1;
        let axis = &own.axes[last];
        for (lane, y) in y.iter_mut().enumerate() {
            let output = block.first[last] + lane;
            if axis.is_empty(output) {
                continue;
            }
            let first = if self.seeds_lowest() {
                plan.seed()
            } else {
                let in_row = axis.start(output) + (axis.skipped(output) * axis.dilation) as i64;
                x[row.first_place + in_row as usize * axis.x_stride]
            };
            let best = best[lane];
            let wins = best.above(C::encode(first)) && !first.is_nan();
            let along = (lane * axis.stride * axis.x_stride) as i64;
            *y = if wins { x[(row.start_place + along) as usize + own.tap_places[best.tap()]] } else { first };
            let offset = match wins {
                true => self.tables.along[lane].wrapping_add(own.tap_offsets[best.tap()].into()),
                false => self.tables.other_along[lane].wrapping_add(row.other),
            };
            self.indices.set(row.y + lane, row.base.wrapping_add(offset));
        }
    }

    /// A block by the general kernel.
    fn general<T: Element>(&mut self, block: &Block<'_>, x: &[T], y: &mut [T]) {
        let PartOf { plan, view, .. } = *self.part;
        let ranges = self.ranges();
        let last = ranges.len() - 1;
        let length = block.layout.outputs[last];
        block.each_output_row(|row| {
            for lane in 0..length {
                let outputs: Vec<usize> = self.output(block, &row, lane).collect();
                let place = outputs
                    .iter()
                    .zip(&ranges)
                    .fold(0, |place, (output, range)| place * range.len() + output - range.start);
                let mut out = [0; MAX_SPATIAL_AXES];
                out[..view.axes.len()].copy_from_slice(&outputs[1..=view.axes.len()]);
                let inner = if view.inner == 1 { 0 } else { outputs[last] };
                let plane = view.index_of_plane(outputs[0]).wrapping_add((inner as i64).wrapping_mul(view.index_c));
                let (value, index) = general::window(plan, view, &out, &x[outputs[0] * view.plane() + inner..], plane);
                y[place] = value;
                self.indices.set(place, index);
            }
        });
    }
}

fn activate<T: Element>(activation: Activation, y: &mut [T]) {
    if activation != Activation::Identity {
        y.iter_mut().for_each(|element| *element = activation::apply(activation, *element));
    }
}
