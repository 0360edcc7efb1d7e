//! A block of outputs: the rows of X that it loads, and the rows of Y that it writes.

use super::axes::Axis;
use super::layout::Layout;

/// A box of outputs.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub layout: &'a Layout,
    /// The first output along each axis.
    pub first: &'a [usize],
    /// The position in X of the first tap of that output's window, padding included.
    pub start: Vec<i64>,
}

/// A row of the block along its innermost axis.
#[derive(Debug)]
pub(crate) struct LoadedRow {
    /// Its array, the phases of the innermost axis left out, and its first slot there.
    pub array: usize,
    pub slot: usize,
    /// The place in X of the innermost axis' element 0; `None` in the padding.
    pub place: Option<usize>,
}

/// A row of outputs along the innermost axis.
#[derive(Debug)]
pub(crate) struct OutputRow<'a> {
    /// Outputs along the outer axes, from the block's first one on.
    pub at: &'a [usize],
    /// The first slot.
    pub slot: usize,
}

impl<'a> Block<'a> {
    pub fn new(axes: &[Axis], layout: &'a Layout, first: &'a [usize]) -> Block<'a> {
        Block { layout, first, start: axes.iter().zip(first).map(|(axis, &first)| axis.start(first)).collect() }
    }

    /// Visits the rows that windows read.
    pub fn each_row(&self, axes: &[Axis], mut visit: impl FnMut(LoadedRow)) {
        let outer = axes.len() - 1;
        let mut at = vec![0; outer];
        loop {
            if let Some(row) = self.row(axes, &at) {
                visit(row);
            }
            if !step(&mut at, &self.layout.positions) {
                return;
            }
        }
    }

    /// The row at a position of each outer axis, from the block's start on; `None` if no window reads it.
    pub fn row(&self, axes: &[Axis], at: &[usize]) -> Option<LoadedRow> {
        let (mut array, mut slot, mut place) = (0, 0, Some(0usize));
        for (number, (axis, &position)) in axes.iter().zip(at).enumerate() {
            array = array * axis.phase_count() + axis.phases[position % axis.stride]?;
            slot += position / axis.stride * self.layout.slot[number];
            let in_x = usize::try_from(self.start[number] + position as i64).ok().filter(|&in_x| in_x < axis.input);
            place = place.zip(in_x).map(|(place, in_x)| place + in_x * axis.x_stride);
        }
        Some(LoadedRow { array, slot, place })
    }

    /// Visits the rows of outputs.
    pub fn each_output_row(&self, mut visit: impl FnMut(OutputRow<'_>)) {
        let outer = self.layout.outputs.len() - 1;
        let mut at = vec![0; outer];
        loop {
            let slot = at.iter().zip(&self.layout.slot).map(|(at, slot)| at * slot).sum();
            visit(OutputRow { at: &at, slot });
            if !step(&mut at, &self.layout.outputs) {
                return;
            }
        }
    }
}

/// Counts up like an odometer, the last axis fastest; false after the last one.
pub(crate) fn step(at: &mut [usize], extents: &[usize]) -> bool {
    for (at, &extent) in at.iter_mut().zip(extents).rev() {
        *at += 1;
        if *at < extent {
            return true;
        }
        *at = 0;
    }
    false
}
