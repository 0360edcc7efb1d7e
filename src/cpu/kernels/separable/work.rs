//! A part of a pool in the making: block after block.

use std::ops::Range;

use super::block::Block;
use super::finish::{self, Offsets};
use super::form::{self, Lanes};
use super::layout::{strides, sums};
use super::load::{Look, load};
use super::pool::Separable;
use crate::activation::apply_to_all;
use crate::cpu::kernels::general;
use crate::cpu::kernels::lane::{Code, Narrow, Packed, Positioned, WithTap};
use crate::cpu::kernels::parts::{Part, PartOf};
use crate::cpu::kernels::scratch::Scratch;
use crate::element::{Element, Index};
use crate::error::ExecuteError;
use crate::options::NanPolicy;
use crate::plan::MAX_SPATIAL_AXES;
use crate::tensor::for_each;

/// A part in the making.
pub(crate) struct Work<'a, 'i, I> {
    own: &'a Separable,
    part: &'a PartOf<'a>,
    /// The part's outputs along each axis, and elements of Y from one of them to the next.
    ranges: Vec<Range<usize>>,
    y_strides: Vec<usize>,
    indices: Option<&'i mut [I]>,
    scratch: &'a mut Scratch,
}

/// Tables of a block's indices, kept for the next block if that has the same.
struct Tables<P> {
    outputs: Vec<usize>,
    start: Vec<i64>,
    windows: Vec<P>,
    firsts: Vec<P>,
}

impl<'a, 'i, I: Index> Work<'a, 'i, I> {
    pub fn new(
        own: &'a Separable,
        part: &'a PartOf<'a>,
        indices: Option<&'i mut [I]>,
        scratch: &'a mut Scratch,
    ) -> Self {
        let Part { outer, rows } = part.part;
        let rest = own.axes[2..].iter().map(|axis| 0..axis.output);
        let ranges = [outer.clone(), rows.clone()].into_iter().chain(rest).collect();
        let y_strides = strides(&own.axes.iter().map(|axis| axis.output).collect::<Vec<_>>());
        Work { own, part, ranges, y_strides, indices, scratch }
    }

    fn set_index(&mut self, place: usize, index: i64) {
        if let Some(indices) = &mut self.indices {
            indices[place] = I::from_i64(index);
        }
    }

    fn seeds_lowest(&self) -> bool {
        self.part.plan.nan_policy == NanPolicy::SeedLowest
    }

    /// What has to be known of elements: whether one is NaN, where the last NaN of a window wins.
    fn look_for_nan<T: Element>(&self) -> Look {
        let looks = self.part.plan.nan_policy == NanPolicy::PropagateLast && T::DTYPE.is_float();
        if looks { Look::ForNan } else { Look::No }
    }

    /// Visits the part's blocks, each with its layout.
    fn each_block(
        &mut self,
        mut visit: impl FnMut(&mut Self, &Block<'_>) -> Result<(), ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let (own, ranges) = (self.own, self.ranges.clone());
        let mut first: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        loop {
            let left = ranges.iter().zip(&first).map(|(range, first)| range.end - first);
            let outputs: Vec<usize> = left.zip(&own.block).map(|(left, &block)| left.min(block)).collect();
            visit(self, &Block::new(&own.axes, &own.layout(&outputs), &first))?;
            // The next block, the innermost axis fastest.
            let next = (0..first.len()).rev().find(|&axis| first[axis] + own.block[axis] < ranges[axis].end);
            let Some(axis) = next else { return Ok(()) };
            first[axis] += own.block[axis];
            (axis + 1..first.len()).for_each(|inner| first[inner] = ranges[inner].start);
        }
    }

    /// The place in the part's Y of a block's first output.
    fn place(&self, block: &Block<'_>) -> usize {
        let along = block.first.iter().zip(&self.ranges).zip(&self.y_strides);
        along.map(|((first, range), stride)| (first - range.start) * stride).sum()
    }

    /// Puts the first elements of windows, or what takes their place, into the slots of the first taps.
    fn prepare_firsts<L: Copy>(&self, block: &Block<'_>, lanes: &mut Lanes<'_, L>, seed: L) {
        if self.seeds_lowest() {
            lanes.loaded[..block.layout.lanes].fill(seed);
        } else if block.begins_before_x() {
            block.move_first_elements(&self.own.axes, lanes.loaded);
        }
    }

    /// Values alone. Says that there was an element that was looked for; then the block is not written.
    fn values_block<C: Code>(
        &mut self,
        block: &Block<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        look: Look,
    ) -> Result<bool, ExecuteError> {
        let (own, simd) = (self.own, self.part.simd);
        let mut scratch = std::mem::take(self.scratch);
        let (mut lanes, mut rest) = form::plain::<C::Lane>(&mut scratch, block.layout)?;
        let found = load::<C>(simd, &own.axes, block, x, lanes.loaded, look);
        if !found {
            form::reduce_plain(simd, (&own.axes, &own.steps), block.layout, &mut lanes);
            let (seed, seeded) = (C::encode(self.part.plan.seed()), self.seeds_lowest());
            if C::IS_FLOAT && !seeded {
                self.prepare_firsts(block, &mut lanes, seed);
            }
            let length = block.layout.finished();
            let best = &lanes.reduced[..length];
            let write = |y: &mut [C::Element]| match (C::IS_FLOAT, seeded) {
                (false, _) => finish::integers::<C>(simd, y, best),
                (true, true) => finish::above::<C>(simd, y, seed, best),
                (true, false) => finish::floats::<C>(simd, y, &lanes.loaded[..length], best),
            };
            form::written(block.layout, &mut rest, &mut y[self.place(block)..], write);
            self.finish(block, y);
        }
        *self.scratch = scratch;
        Ok(found)
    }

    pub fn values<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError> {
        let look = self.look_for_nan::<C::Element>();
        self.each_block(|work, block| {
            if work.values_block::<C>(block, x, y, look)? {
                work.general(block, x, y);
            }
            Ok(())
        })
    }

    /// Values of floats of 16 bits, as integers that cannot tell all of them apart; where that matters, as wider floats.
    pub fn halves<C: Code, W: Code<Element = C::Element>>(
        &mut self,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError> {
        let look = self.look_for_nan::<C::Element>();
        self.each_block(|work, block| {
            if work.values_block::<C>(block, x, y, Look::ForSpecial)? && work.values_block::<W>(block, x, y, look)? {
                work.general(block, x, y);
            }
            Ok(())
        })
    }

    /// Values and indices, with positions beside the lanes. Says that there was an element that was looked for; then the
    /// block is not written.
    fn placed_block<C: Code>(
        &mut self,
        block: &Block<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        tables: &mut Option<Tables<<C::Lane as Positioned>::Position>>,
    ) -> Result<bool, ExecuteError>
    where
        C::Lane: Positioned,
    {
        let (own, simd) = (self.own, self.part.simd);
        let look = self.look_for_nan::<C::Element>();
        let mut scratch = std::mem::take(self.scratch);
        let (mut placed, mut rest) = form::placed::<C::Lane>(&mut scratch, block.layout)?;
        let found = load::<C>(simd, &own.axes, block, x, placed.lanes.loaded, look);
        if !found {
            form::reduce_placed(simd, (&own.axes, &own.steps), block.layout, &mut placed);
            self.prepare_firsts(block, &mut placed.lanes, C::encode(self.part.plan.seed()));
            let offsets = self.offsets(block, tables, C::Lane::position);
            let length = block.layout.finished();
            let first = &placed.lanes.loaded[..length];
            let best = (&placed.lanes.reduced[..length], &placed.positions[..length]);
            let place = self.place(block);
            let to = &mut y[place..];
            if let Some(indices) = &mut self.indices {
                form::written_both(block.layout, &mut rest, (to, &mut indices[place..]), |both| {
                    finish::placed::<C, I>(simd, both, first, best, &offsets);
                });
            }
            self.finish(block, y);
        }
        *self.scratch = scratch;
        Ok(found)
    }

    pub fn placed<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError>
    where
        C::Lane: Positioned,
    {
        let mut tables = None;
        self.each_block(|work, block| {
            if work.placed_block::<C>(block, x, y, &mut tables)? {
                work.general(block, x, y);
            }
            Ok(())
        })
    }

    /// Values and indices of elements of 8 and 16 bits, with taps in the lanes. Says that there was an element that its lane
    /// does not give back; then the block is not written.
    fn packed_block<C: Code<Lane = Packed>>(
        &mut self,
        block: &Block<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        tables: &mut Option<Tables<i32>>,
    ) -> Result<bool, ExecuteError> {
        let (own, simd) = (self.own, self.part.simd);
        let look = if C::Element::DTYPE.is_float() { Look::ForSpecial } else { Look::No };
        let mut scratch = std::mem::take(self.scratch);
        let (mut lanes, mut rest) = form::plain::<Packed>(&mut scratch, block.layout)?;
        let found = load::<C>(simd, &own.axes, block, x, lanes.loaded, look);
        if !found {
            form::reduce_plain(simd, (&own.axes, &own.steps), block.layout, &mut lanes);
            self.prepare_firsts(block, &mut lanes, C::encode(self.part.plan.seed()));
            let offsets = self.offsets(block, tables, |offset| offset as i32);
            let length = block.layout.finished();
            let lanes = (&lanes.loaded[..length], &lanes.reduced[..length]);
            let place = self.place(block);
            let to = &mut y[place..];
            if let Some(indices) = &mut self.indices {
                form::written_both(block.layout, &mut rest, (to, &mut indices[place..]), |both| {
                    finish::packed::<C, I>(simd, both, lanes, &own.tap_offsets, &offsets);
                });
            }
            self.finish(block, y);
        }
        *self.scratch = scratch;
        Ok(found)
    }

    /// Integers of 8 and 16 bits.
    pub fn packed<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError>
    where
        C::Lane: Narrow,
    {
        let mut tables = None;
        self.each_block(|work, block| work.packed_block::<WithTap<C>>(block, x, y, &mut tables).map(|_| ()))
    }

    /// Floats of 16 bits; blocks with elements that their lanes do not give back as wider floats.
    pub fn packed_halves<C: Code, W: Code<Element = C::Element, Lane = f32>>(
        &mut self,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError>
    where
        C::Lane: Narrow,
    {
        let (mut tables, mut wide) = (None, None);
        self.each_block(|work, block| {
            if work.packed_block::<WithTap<C>>(block, x, y, &mut tables)?
                && work.placed_block::<W>(block, x, y, &mut wide)?
            {
                work.general(block, x, y);
            }
            Ok(())
        })
    }

    /// The tables of a block's indices.
    fn offsets<'t, P>(
        &self,
        block: &Block<'_>,
        tables: &'t mut Option<Tables<P>>,
        position: impl Fn(i64) -> P,
    ) -> Offsets<'t, P> {
        let (axes, view) = (&self.own.axes, self.part.view);
        let plane = view.index_of_plane(block.first[0]);
        // That of the first output's first tap, planes and channels left out.
        let along = axes[1..].iter().zip(&block.start[1..]);
        let start =
            along.fold(view.index_base, |base, (axis, start)| base.wrapping_add(start.wrapping_mul(axis.index_stride)));
        let fits = |tables: &Tables<P>| tables.outputs == block.layout.outputs && tables.start == block.start[1..];
        let kept = tables.take().filter(fits);
        let tables = tables.insert(kept.unwrap_or_else(|| {
            let windows = block.indices(axes);
            let firsts = match self.seeds_lowest() {
                true => self.lowest_indices(block, &windows, start),
                false => block.indices_ahead(axes),
            };
            let [windows, firsts] = [windows, firsts].map(|table| table.into_iter().map(&position).collect());
            Tables { outputs: block.layout.outputs.clone(), start: block.start[1..].to_vec(), windows, firsts }
        }));
        Offsets { base: start.wrapping_add(plane), windows: &tables.windows, firsts: &tables.firsts }
    }

    /// What leads from the index of a window's first tap to that of a window without a winner.
    fn lowest_indices(&self, block: &Block<'_>, windows: &[i64], start: i64) -> Vec<i64> {
        let (axes, view) = (&self.own.axes, self.part.view);
        // Planes and channels count in both.
        let counts = |number: usize| number == 0 || view.inner != 1 && number + 1 == axes.len();
        let along = |(number, slots): (usize, &usize)| {
            let stride = if counts(number) { axes[number].index_stride } else { 0 };
            (0..*slots).map(|slot| (slot as i64).wrapping_mul(stride)).collect::<Vec<_>>()
        };
        let units = sums(&block.layout.slots.iter().enumerate().map(along).collect::<Vec<_>>());
        let channels = if view.inner != 1 { block.first[axes.len() - 1] as i64 * view.index_c } else { 0 };
        let apart = view.unit_base.wrapping_add(channels).wrapping_sub(start);
        units.iter().zip(windows).map(|(unit, window)| unit.wrapping_sub(*window).wrapping_add(apart)).collect()
    }

    /// Writes the outputs whose windows are empty, and applies the activation to all outputs of a block.
    fn finish<T: Element>(&mut self, block: &Block<'_>, y: &mut [T]) {
        let (axes, plan) = (&self.own.axes, self.part.plan);
        if self.own.has_empty_windows {
            let empty = |number: usize, output: usize| axes[number].ahead(block.first[number] + output).is_none();
            for_each(&block.layout.outputs, |at| {
                if at.iter().enumerate().any(|(number, &output)| empty(number, output)) {
                    self.write_empty(block, at, y);
                }
            });
        }
        let place = self.place(block);
        for run in &block.layout.runs {
            apply_to_all(plan.activation, &mut y[place + run.place..][..block.layout.run]);
        }
    }

    /// The place in the part's Y of one of a block's outputs, and what its plane and channel add to an index.
    fn output(&self, block: &Block<'_>, at: &[usize]) -> (usize, i64) {
        let view = self.part.view;
        let place = at.iter().zip(&self.y_strides).map(|(at, stride)| at * stride).sum::<usize>() + self.place(block);
        let channel = if view.inner == 1 { 0 } else { block.first[at.len() - 1] + at[at.len() - 1] };
        let plane = view.index_of_plane(block.first[0] + at[0]);
        (place, plane.wrapping_add((channel as i64).wrapping_mul(view.index_c)))
    }

    fn write_empty<T: Element>(&mut self, block: &Block<'_>, at: &[usize], y: &mut [T]) {
        let (place, plane) = self.output(block, at);
        let view = self.part.view;
        let outputs = at.iter().zip(block.first).map(|(at, first)| at + first).skip(1);
        let firsts = view.axes.iter().zip(outputs).map(|(axis, output)| axis.taps(output).first);
        y[place] = self.part.plan.empty();
        self.set_index(place, view.empty_index(plane, firsts));
    }

    /// A block by the general kernel.
    fn general<T: Element>(&mut self, block: &Block<'_>, x: &[T], y: &mut [T]) {
        let PartOf { plan, view, .. } = *self.part;
        for_each(&block.layout.outputs, |at| {
            let outputs: Vec<usize> = at.iter().zip(block.first).map(|(at, first)| at + first).collect();
            let mut out = [0; MAX_SPATIAL_AXES];
            out[..view.axes.len()].copy_from_slice(&outputs[1..=view.axes.len()]);
            let inner = if view.inner == 1 { 0 } else { outputs[at.len() - 1] };
            let (place, plane) = self.output(block, at);
            let x = &x[outputs[0] * view.plane() + inner..];
            let (value, index) = general::window(plan, view, &out, x, plane);
            y[place] = value;
            self.set_index(place, index);
        });
    }
}
