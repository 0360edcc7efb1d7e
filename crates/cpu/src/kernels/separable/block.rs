//! A block of outputs, and where its windows lie in X.

use std::cell::OnceCell;
use std::ops::Range;

use wgpu_pooling_plan::internal::for_each;

use super::layout::{BlockLayout, BlockRow};
use crate::kernels::axes::Axis;

/// Rows of X with neighbouring slots.
#[derive(Debug)]
pub(crate) struct RowBatch {
    pub rows: Range<usize>,
    /// The number of slots that are complete in all arrays once this batch and the batches before it are loaded.
    pub complete: usize,
}

/// Where the elements of a phase of a row are loaded to.
#[derive(Debug)]
pub(crate) struct Phase {
    /// The lanes of a batch, beginning with the first one inside X.
    pub lanes: Range<usize>,
    /// The lanes of a row inside X, and the place of the first lane's element, counted from the row's first element
    /// inside X.
    pub length: usize,
    pub source: usize,
}

/// The first elements of a row of windows that begin before X along outer axes.
#[derive(Debug)]
pub(crate) struct FirstRow {
    /// The batch that contains the row.
    pub batch: usize,
    /// The row's place among all lanes, and the slot of the windows' first taps, which is padding.
    pub from: usize,
    pub to: usize,
}

/// A box of outputs.
#[derive(Debug)]
pub(crate) struct OutputBlock<'a> {
    pub layout: &'a BlockLayout,
    /// The first output along each axis.
    pub first: Vec<usize>,
    /// The position in X of the first tap of that output's window, padding included.
    pub start: Vec<i64>,
    /// The positions of each axis that lie inside X, counted from `start`.
    pub inside: Vec<Range<usize>>,
    /// The place in X of the first tap of the first output's window, padding included.
    pub place: i64,
    /// The rows inside X, in batches that are loaded together.
    pub batches: Vec<RowBatch>,
    /// The rows in the padding of an outer axis.
    pub padding: Vec<usize>,
    pub phases: Vec<Phase>,
    /// In the order of batches; computed on first use.
    first_rows: OnceCell<Vec<FirstRow>>,
    /// For windows that begin before X along a row: the lane of the window's maximum, and the lane where its first
    /// element is loaded.
    pub first_elements: Vec<(usize, usize)>,
}

impl<'a> OutputBlock<'a> {
    pub fn new(axes: &[Axis], inner: usize, layout: &'a BlockLayout, first: Vec<usize>) -> OutputBlock<'a> {
        let start: Vec<i64> = axes.iter().zip(&first).map(|(axis, &first)| axis.start(first)).collect();
        let inside = axes.iter().zip(&start).zip(&layout.positions).map(|((axis, &start), &positions)| {
            let clamped = |position: i64| position.clamp(0, positions as i64) as usize;
            clamped(-start)..clamped(axis.input as i64 - start)
        });
        let place = axes.iter().zip(&start).map(|(axis, &start)| start * axis.x_stride as i64).sum();
        let mut block = OutputBlock {
            layout,
            first,
            inside: inside.collect(),
            start,
            place,
            batches: Vec::new(),
            padding: Vec::new(),
            phases: Vec::new(),
            first_rows: OnceCell::new(),
            first_elements: Vec::new(),
        };
        block.fill_batches(inner);
        block.fill_phases(&axes[inner], inner);
        block.fill_first_elements(&axes[inner], inner);
        block
    }

    /// Moves the block to other planes.
    pub fn move_to_plane(&mut self, axes: &[Axis], plane: usize) {
        self.place += (plane as i64 - self.start[0]) * axes[0].x_stride as i64;
        (self.first[0], self.start[0]) = (plane, plane as i64);
    }

    fn fill_batches(&mut self, inner: usize) {
        let (rows, row) = (&self.layout.rows, &self.layout.row);
        let is_padding = |row: &BlockRow| row.at.iter().zip(&self.inside).any(|(at, inside)| !inside.contains(at));
        for (number, own) in rows.iter().enumerate() {
            if self.inside[inner].is_empty() || is_padding(own) {
                self.padding.push(number);
                continue;
            }
            let follows = |batch: &&mut RowBatch| {
                let (first, count) = (&rows[batch.rows.start], batch.rows.len());
                batch.rows.end == number
                    && count < row.at_once
                    && (own.array, own.slot) == (first.array, first.slot + count * row.reduced)
            };
            match self.batches.last_mut().filter(follows) {
                Some(batch) => batch.rows.end += 1,
                None => {
                    self.batches.push(RowBatch { rows: number..number + 1, complete: 0 });
                }
            }
        }
        let mut complete = self.layout.lanes;
        for batch in self.batches.iter_mut().rev() {
            batch.complete = complete;
            complete = complete.min(rows[batch.rows.start].slot);
        }
    }

    fn fill_phases(&mut self, axis: &Axis, inner: usize) {
        let (row, inside) = (&self.layout.row, &self.inside[inner]);
        let phases = axis.phases.iter().enumerate().filter_map(|(phase, number)| number.map(|number| (number, phase)));
        for (number, phase) in phases {
            // The slot of the first element of the phase, and the slot after its last one.
            let behind = |position: usize| position.saturating_sub(phase).div_ceil(axis.stride);
            let (begin, end) = (behind(inside.start), behind(inside.end));
            if begin < end {
                self.phases.push(Phase {
                    lanes: number * row.pitch + begin * row.channels..(number + 1) * row.pitch,
                    length: (end - begin) * row.channels,
                    source: (begin * axis.stride + phase - inside.start) * axis.x_stride,
                });
            }
        }
    }

    /// For windows that begin before X along the outer axes: the rows of their first elements.
    pub fn first_rows(&self, outer: &[Axis]) -> &[FirstRow] {
        self.first_rows.get_or_init(|| {
            let mut rows = Vec::new();
            for_each(&self.layout.outputs[..outer.len()], &mut |at| rows.extend(self.first_row(outer, at)));
            rows.sort_by_key(|row| row.batch);
            rows
        })
    }

    fn first_row(&self, outer: &[Axis], at: &[usize]) -> Option<FirstRow> {
        let layout = self.layout;
        let (mut array, mut slot, mut to) = (0, 0, 0);
        for (number, axis) in outer.iter().enumerate() {
            let mut position = at[number] * axis.stride;
            if self.start[number] + (position as i64) < 0 {
                position += axis.ahead(self.first[number] + at[number])?;
            }
            array = array * axis.phase_count() + axis.phases[position % axis.spacing]?;
            slot += position / axis.spacing * layout.slot[number];
            to += at[number] * axis.pick() * layout.slot[number];
        }
        if (array, slot) == (0, to) {
            return None;
        }
        let holds = |batch: &RowBatch| {
            let first = &layout.rows[batch.rows.start];
            let slots = first.slot..first.slot + batch.rows.len() * layout.row.reduced;
            first.array == array && slots.contains(&slot)
        };
        let batch = self.batches.iter().position(holds)?;
        Some(FirstRow { batch, from: array * layout.pitch + slot, to })
    }

    fn fill_first_elements(&mut self, axis: &Axis, inner: usize) {
        let row = &self.layout.row;
        for output in 0..self.layout.outputs[inner] {
            let position = output * axis.stride;
            if self.start[inner] + position as i64 >= 0 {
                break;
            }
            let Some(ahead) = axis.ahead(self.first[inner] + output) else { continue };
            let position = position + ahead;
            if let Some(phase) = axis.phases[position % axis.stride] {
                let loaded = phase * row.pitch + position / axis.stride * row.channels;
                self.first_elements.push((output * row.channels, loaded));
            }
        }
    }

    /// The amount that each slot's output adds to the index of the first tap of the block's first window, along each
    /// axis.
    pub fn indices(&self, axes: &[Axis]) -> Vec<Vec<i64>> {
        let along = |(axis, &slots): (&Axis, &usize)| {
            (0..slots).map(|slot| ((slot * axis.spacing) as i64).wrapping_mul(axis.index_stride)).collect()
        };
        axes.iter().zip(&self.layout.slots).map(along).collect()
    }

    /// The amount that the first element of each slot's window adds to the index of its first tap, along each axis.
    pub fn indices_ahead(&self, axes: &[Axis]) -> Vec<Vec<i64>> {
        let along = |(number, axis): (usize, &Axis)| {
            let (outputs, pick) = (self.layout.outputs[number], axis.pick());
            let is_output = |slot: &usize| slot.is_multiple_of(pick) && slot / pick < outputs;
            let of = |slot: usize| {
                Some(slot).filter(is_output).and_then(|slot| axis.ahead(self.first[number] + slot / pick))
            };
            let ahead = (0..self.layout.slots[number]).map(|slot| of(slot).unwrap_or(0) as i64);
            ahead.map(|ahead| ahead.wrapping_mul(axis.index_stride)).collect()
        };
        axes.iter().enumerate().map(along).collect()
    }
}
