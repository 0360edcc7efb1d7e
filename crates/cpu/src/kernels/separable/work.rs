//! Computes a part of a pool, block after block.

use std::ops::Range;

use wgpu_pooling_plan::internal::{advance, for_each};
use wgpu_pooling_plan::{Element, ExecuteError, NanPolicy};

use super::block::OutputBlock;
use super::finish::{self, Offsets};
use super::form::{LaneForm, LanesAlone, WithPositions};
use super::layout::{strides, sums};
use super::pool::Separable;
use super::reduced::{BlockReduction, FirstLanes, OutputPiece};
use crate::kernels::indices::{IndicesMut, with_slice};
use crate::kernels::lane::{Code, NanCode, Narrow, Packed, Positioned, WithTap};
use crate::kernels::parts::PartOf;
use crate::kernels::reduce::{Rows, decode};
use crate::kernels::scratch::ThreadMemory;
use crate::kernels::view::nan_wins;

/// A part of a pool and the memory that it is written to.
pub(crate) struct PartWork<'a> {
    own: &'a Separable,
    part: &'a PartOf<'a>,
    /// The part's outputs along each axis, and elements of Y from one of them to the next.
    ranges: Vec<Range<usize>>,
    y_strides: Vec<usize>,
    indices: Option<IndicesMut<'a>>,
    scratch: &'a mut ThreadMemory,
}

/// The index tables of a block, kept for following blocks with the same tables.
struct IndexTables<P> {
    outputs: Vec<usize>,
    /// The other parameters of the tables: see [`PartWork::key`].
    key: Vec<i64>,
    windows: Vec<P>,
    firsts: Vec<P>,
}

impl<P> IndexTables<P> {
    const EMPTY: IndexTables<P> =
        IndexTables { outputs: Vec::new(), key: Vec::new(), windows: Vec::new(), firsts: Vec::new() };
}

impl<'a> PartWork<'a> {
    pub fn new(
        own: &'a Separable,
        part: &'a PartOf<'a>,
        indices: Option<IndicesMut<'a>>,
        scratch: &'a mut ThreadMemory,
    ) -> Self {
        let ranges = part.ranges(&own.axes);
        let y_strides = strides(&own.axes.iter().map(|axis| axis.output).collect::<Vec<_>>());
        PartWork { own, part, ranges, y_strides, indices, scratch }
    }

    fn set_index(&mut self, place: usize, index: i64) {
        if let Some(indices) = &mut self.indices {
            indices.set(place, index);
        }
    }

    /// Whether lanes with indices contain their taps.
    pub fn packs(&self) -> bool {
        !self.own.tap_offsets.is_empty()
    }

    fn starts_from_value(&self) -> bool {
        self.part.plan.starts_from_value()
    }

    /// Visits the part's blocks with their layouts. Blocks of different planes at the same positions follow each other.
    fn each_block(
        &mut self,
        visit: &mut dyn FnMut(&mut Self, &OutputBlock<'_>) -> Result<(), ExecuteError>,
    ) -> Result<(), ExecuteError> {
        let (own, ranges) = (self.own, self.ranges.clone());
        let starts: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        let blocks = |axis: usize| 0..ranges[axis].len().div_ceil(own.block[axis]);
        let mut at = vec![0; ranges.len()];
        loop {
            // Planes are the fastest; blocks of the same extents in different planes have one layout.
            let mut first: Vec<usize> =
                starts.iter().zip(&at).zip(&own.block).map(|((start, at), block)| start + at * block).collect();
            while first[0] < ranges[0].end {
                let left = ranges.iter().zip(&first).map(|(range, first)| range.end - first);
                let outputs: Vec<usize> = left.zip(&own.block).map(|(left, &block)| left.min(block)).collect();
                let layout = own.layout(&outputs);
                let mut block = OutputBlock::new(&own.axes, own.inner, &layout, first.clone());
                let alike = ((ranges[0].end - first[0]) / outputs[0]).max(1);
                for number in 0..alike {
                    block.move_to_plane(&own.axes, first[0] + number * outputs[0]);
                    visit(self, &block)?;
                }
                first[0] += alike * outputs[0];
            }
            if advance(&mut at[1..], &|axis| blocks(axis + 1)).is_none() {
                return Ok(());
            }
        }
    }

    /// The place in the part's Y of a block's first output.
    fn place(&self, block: &OutputBlock<'_>) -> usize {
        let along = block.first.iter().zip(&self.ranges).zip(&self.y_strides);
        along.map(|((first, range), stride)| (first - range.start) * stride).sum()
    }

    /// The values that the maxima of windows are compared with.
    fn firsts<C: Code>(&self) -> FirstLanes<C::Lane> {
        if self.starts_from_value() {
            FirstLanes::Constant(C::encode(self.part.plan.seed()))
        } else {
            FirstLanes::OfWindows
        }
    }

    /// Computes values alone. True if an element needs wider lanes (NaN, or a zero that loses its sign); the block is
    /// then incomplete.
    fn values_block<C: Code>(
        &mut self,
        block: &OutputBlock<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        checks_lossy: bool,
        firsts: FirstLanes<C::Lane>,
    ) -> Result<bool, ExecuteError> {
        let (own, simd, plan) = (self.own, self.part.context.simd, self.part.plan);
        let constant = (C::IS_FLOAT && self.starts_from_value()).then(|| C::encode(plan.seed()));
        let to = &mut y[self.place(block)..];
        let reduction = BlockReduction { own, simd, checks_lossy, firsts };
        let found = reduction.run::<C, LanesAlone<C::Lane>>(block, x, self.scratch, |mut piece| {
            let y = &mut to[piece.place..][..piece.slots.len()];
            match (constant, firsts) {
                (Some(constant), _) => finish::above::<C>(simd, y, constant, piece.best().lanes),
                (None, FirstLanes::OfWindows) => finish::floats::<C>(simd, y, piece.firsts, piece.best().lanes),
                (None, _) if C::KEEPS_BITS => piece.write(bytemuck::cast_slice_mut(y)),
                (None, _) => decode::<C>(simd, Rows::one(y.len()), y, piece.best().lanes),
            }
            plan.activation.apply_all(y);
        })?;
        if !found {
            self.write_all_empty(block, y);
        }
        Ok(found)
    }

    /// Computes values of a block with any elements. `N` are lanes in which the last NaN wins.
    fn any_values_block<C: Code, N: Code<Element = C::Element>>(
        &mut self,
        block: &OutputBlock<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError> {
        // Without a comparison with the first element, the maximum is wrong only if that element is NaN.
        let checks_lossy = C::IS_FLOAT && !self.starts_from_value();
        if self.values_block::<C>(block, x, y, checks_lossy, FirstLanes::None)? {
            match self.part.plan.nan_policy {
                NanPolicy::PropagateLast => _ = self.values_block::<N>(block, x, y, false, FirstLanes::None)?,
                _ => _ = self.values_block::<C>(block, x, y, false, FirstLanes::OfWindows)?,
            }
        }
        Ok(())
    }

    pub fn values<C: Code, N: Code<Element = C::Element>>(
        &mut self,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError> {
        self.each_block(&mut |work, block| work.any_values_block::<C, N>(block, x, y))
    }

    /// Computes values of 16-bit floats as integers, or as wider floats in blocks where integers lose information.
    pub fn halves<C: Code, W: Code<Element = C::Element>, N: Code<Element = C::Element>>(
        &mut self,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError> {
        self.each_block(&mut |work, block| {
            if work.values_block::<C>(block, x, y, true, FirstLanes::None)? {
                work.any_values_block::<W, N>(block, x, y)?;
            }
            Ok(())
        })
    }

    /// Computes values and indices, with positions in another slice. True if there is a NaN and `checks_nan`; the block
    /// is then incomplete.
    fn placed_block<C: Code>(
        &mut self,
        block: &OutputBlock<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        tables: &mut IndexTables<<C::Lane as Positioned>::Position>,
        checks_nan: bool,
    ) -> Result<bool, ExecuteError>
    where
        C::Lane: Positioned,
    {
        let simd = self.part.context.simd;
        let offsets = self.offsets(block, tables, C::Lane::position);
        self.indexed_block::<C, WithPositions<C::Lane>>(block, x, y, checks_nan, |y, indices, piece| {
            let (firsts, offsets, best) = (piece.firsts, offsets.part(&piece.slots), piece.best());
            with_slice!(IndicesMut, indices, indices => {
                finish::placed::<C, _>(simd, (y, indices), firsts, best, &offsets);
            });
        })
    }

    /// The same for any elements. `N` are lanes in which the last NaN wins.
    fn any_placed_block<C: Code<Lane: Positioned>, N: NanCode<C>>(
        &mut self,
        block: &OutputBlock<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        tables: &mut IndexTables<<C::Lane as Positioned>::Position>,
    ) -> Result<(), ExecuteError> {
        if self.placed_block::<C>(block, x, y, tables, nan_wins(self.part.plan))? {
            self.placed_block::<N>(block, x, y, tables, false)?;
        }
        Ok(())
    }

    pub fn placed<C: Code<Lane: Positioned>, N: NanCode<C>>(
        &mut self,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError> {
        let mut tables = IndexTables::EMPTY;
        self.each_block(&mut |work, block| work.any_placed_block::<C, N>(block, x, y, &mut tables))
    }

    /// Computes values and indices of elements of 8 and 16 bits, with taps in the lanes. True if an element needs wider
    /// lanes; the block is then incomplete.
    fn packed_block<C: Code<Lane = Packed>>(
        &mut self,
        block: &OutputBlock<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        tables: &mut IndexTables<i32>,
    ) -> Result<bool, ExecuteError> {
        let checks_lossy = C::Element::DTYPE.is_float();
        let (own, simd) = (self.own, self.part.context.simd);
        let offsets = self.offsets(block, tables, |offset| offset as i32);
        self.indexed_block::<C, LanesAlone<Packed>>(block, x, y, checks_lossy, |y, indices, piece| {
            let (firsts, offsets, best) = (piece.firsts, offsets.part(&piece.slots), piece.best().lanes);
            with_slice!(IndicesMut, indices, indices => {
                finish::packed::<C, _>(simd, (y, indices), (firsts, best), &own.tap_offsets, &offsets);
            });
        })
    }

    /// Computes values and indices. `finish` writes the values and indices of some outputs.
    fn indexed_block<C: Code, F: LaneForm<Lane = C::Lane>>(
        &mut self,
        block: &OutputBlock<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        checks_lossy: bool,
        finish: impl Fn(&mut [C::Element], IndicesMut<'_>, &mut OutputPiece<'_, '_, F>),
    ) -> Result<bool, ExecuteError> {
        let place = self.place(block);
        let activation = self.part.plan.activation;
        let reduction =
            BlockReduction { own: self.own, simd: self.part.context.simd, checks_lossy, firsts: self.firsts::<C>() };
        let Some(indices) = &mut self.indices else { return Ok(false) };
        let found = reduction.run::<C, F>(block, x, self.scratch, |mut piece| {
            let range = place + piece.place..place + piece.place + piece.slots.len();
            let y = &mut y[range.clone()];
            finish(y, indices.part(range), &mut piece);
            activation.apply_all(y);
        })?;
        if !found {
            self.write_all_empty(block, y);
        }
        Ok(found)
    }

    /// Computes integers of 8 and 16 bits.
    pub fn packed<C: Code>(&mut self, x: &[C::Element], y: &mut [C::Element]) -> Result<(), ExecuteError>
    where
        C::Lane: Narrow,
    {
        let mut tables = IndexTables::EMPTY;
        self.each_block(&mut |work, block| work.packed_block::<WithTap<C>>(block, x, y, &mut tables).map(|_| ()))
    }

    /// Computes floats of 16 bits. Blocks with elements that lose information in packed lanes are computed as wider
    /// floats.
    pub fn packed_halves<C: Code, W: Code<Element = C::Element, Lane = f32>, N: NanCode<W>>(
        &mut self,
        x: &[C::Element],
        y: &mut [C::Element],
    ) -> Result<(), ExecuteError>
    where
        C::Lane: Narrow,
    {
        let (mut tables, mut wide) = (IndexTables::EMPTY, IndexTables::EMPTY);
        self.each_block(&mut |work, block| {
            if work.packed_block::<WithTap<C>>(block, x, y, &mut tables)? {
                work.any_placed_block::<W, N>(block, x, y, &mut wide)?;
            }
            Ok(())
        })
    }

    /// The tables of a block's indices, computed unless the block before had the same tables.
    fn offsets<'t, P>(
        &self,
        block: &OutputBlock<'_>,
        tables: &'t mut IndexTables<P>,
        position: impl Fn(i64) -> P,
    ) -> Offsets<'t, P> {
        let (axes, view) = (&self.own.axes, self.part.view);
        let plane = view.index_of_plane(block.first[0]);
        // The index of the first output's first tap, without planes and channels.
        let along = axes[1..].iter().zip(&block.start[1..]);
        let start =
            along.fold(view.index_base, |base, (axis, start)| base.wrapping_add(start.wrapping_mul(axis.index_stride)));
        let (outputs, key) = (&block.layout.outputs, self.key(block));
        let same = tables.outputs == *outputs;
        if !same {
            sums(&mut tables.windows, &block.indices(axes), &position);
        }
        if !same || tables.key != key {
            let firsts =
                if self.starts_from_value() { self.lowest_indices(block, start) } else { block.indices_ahead(axes) };
            sums(&mut tables.firsts, &firsts, &position);
        }
        (tables.outputs, tables.key) = (outputs.clone(), key);
        Offsets { base: start.wrapping_add(plane), windows: &tables.windows, firsts: &tables.firsts }
    }

    /// The parameters of the index tables besides the block's outputs. The first element of a window is its first tap
    /// unless the window begins before X, so all blocks in the middle of X have the same tables. The index of a window
    /// without a winner does not depend on the block's position.
    fn key(&self, block: &OutputBlock<'_>) -> Vec<i64> {
        let lowest = self.starts_from_value();
        block.start[1..].iter().map(|&start| if lowest { start } else { start.min(0) }).collect()
    }

    /// The index difference from a window's first tap to the index of a window without a winner, along each axis.
    fn lowest_indices(&self, block: &OutputBlock<'_>, start: i64) -> Vec<Vec<i64>> {
        let (axes, view) = (&self.own.axes, self.part.view);
        let channels = if view.inner != 1 { block.first[axes.len() - 1] as i64 * view.index_c } else { 0 };
        let to_seed = view.unit_base.wrapping_add(channels).wrapping_sub(start);
        let mut of_axes = block.indices(axes);
        for (number, own) in of_axes.iter_mut().enumerate() {
            // Both indices contain the plane and the channel.
            let counts = number == 0 || view.inner != 1 && number + 1 == axes.len();
            let once = if number == 0 { to_seed } else { 0 };
            own.iter_mut().for_each(|index| *index = if counts { once } else { once.wrapping_sub(*index) });
        }
        of_axes
    }

    /// Writes the outputs whose windows are empty.
    fn write_all_empty<T: Element>(&mut self, block: &OutputBlock<'_>, y: &mut [T]) {
        let axes = &self.own.axes;
        if self.own.has_empty_windows {
            let empty = |number: usize, output: usize| axes[number].ahead(block.first[number] + output).is_none();
            for_each(&block.layout.outputs, &mut |at| {
                if at.iter().enumerate().any(|(number, &output)| empty(number, output)) {
                    self.write_empty(block, at, y);
                }
            });
        }
    }

    /// The place in the part's Y of one of a block's outputs, and the amount that its plane and channel add to an
    /// index.
    fn output(&self, block: &OutputBlock<'_>, at: &[usize]) -> (usize, i64) {
        let view = self.part.view;
        let place = at.iter().zip(&self.y_strides).map(|(at, stride)| at * stride).sum::<usize>() + self.place(block);
        let channel = if view.inner == 1 { 0 } else { block.first[at.len() - 1] + at[at.len() - 1] };
        let plane = view.index_of_plane(block.first[0] + at[0]);
        (place, plane.wrapping_add((channel as i64).wrapping_mul(view.index_c)))
    }

    fn write_empty<T: Element>(&mut self, block: &OutputBlock<'_>, at: &[usize], y: &mut [T]) {
        let (place, plane) = self.output(block, at);
        let view = self.part.view;
        let outputs = at.iter().zip(&block.first).map(|(at, first)| at + first).skip(1);
        let firsts = view.axes.iter().zip(outputs).map(|(axis, output)| axis.taps(output).first);
        y[place] = self.part.plan.empty();
        self.part.plan.activation.apply_all(&mut y[place..=place]);
        self.set_index(place, view.empty_index(plane, firsts));
    }
}
