//! Where the lanes of a block lie in scratch memory: a pure function of the block's extents.

use super::steps::Step;
use crate::cpu::kernels::axes::Axis;
use crate::tensor::for_each;

/// Lanes between two arrays beyond what they hold, so that they begin in different sets of a cache.
const SLACK: usize = 16;

/// A box of outputs, and the arrays of its lanes. An array has the lanes of one phase of every axis: a slot for each position of
/// the phase, the innermost axis without gaps. The maximum of a window gets the slot of the window's first tap, in phase 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockLayout {
    /// Outputs along each axis.
    pub outputs: Vec<usize>,
    /// Lanes from one slot to the next.
    pub slot: Vec<usize>,
    /// Positions along each axis, padding included.
    pub positions: Vec<usize>,
    /// Lanes from one array to the next.
    pub pitch: usize,
    /// The lanes of an array.
    pub lanes: usize,
    /// Arrays of loaded lanes, and after the first step.
    pub arrays: usize,
    pub reduced_arrays: usize,
    /// Rows of X that windows read.
    pub rows: Vec<RowOfX>,
    /// Runs of outputs that have neighbouring slots and are neighbours in Y.
    pub runs: Vec<Run>,
    /// The length of a run.
    pub run: usize,
    /// Slots along each axis.
    pub slots: Vec<usize>,
}

/// A row of the block along its innermost axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowOfX {
    /// Its array, the phases of the innermost axis left out, and its first slot there.
    pub array: usize,
    pub slot: usize,
    /// What it adds to the place in X of the block's first row.
    pub place: usize,
    /// Its position along each outer axis.
    pub at: Vec<usize>,
}

/// Neighbouring outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// The first slot.
    pub slot: usize,
    /// What it adds to the place in Y of the block's first output.
    pub place: usize,
}

impl BlockLayout {
    pub fn new(axes: &[Axis], first_step: &Step, outputs: &[usize]) -> BlockLayout {
        let slots: Vec<usize> =
            axes.iter().zip(outputs).map(|(axis, outputs)| outputs + axis.reach() / axis.stride).collect();
        let positions = axes.iter().zip(outputs).map(|(axis, &outputs)| (outputs - 1) * axis.stride + axis.reach() + 1);
        let slot = strides(&slots);
        let lanes = slot[0] * slots[0];
        let arrays: usize = axes.iter().map(Axis::phase_count).product();
        let mut layout = BlockLayout {
            outputs: outputs.to_vec(),
            positions: positions.collect(),
            pitch: lanes.next_multiple_of(SLACK) + SLACK,
            lanes,
            arrays,
            reduced_arrays: arrays / axes[first_step.axis].phase_count(),
            rows: Vec::new(),
            runs: Vec::new(),
            run: 0,
            slot,
            slots,
        };
        layout.fill_rows(axes);
        layout.fill_runs(axes);
        layout
    }

    fn fill_rows(&mut self, axes: &[Axis]) {
        let outer = axes.len() - 1;
        let (rows, slot) = (&mut self.rows, &self.slot);
        for_each(&self.positions[..outer], |at| {
            let (mut array, mut first, mut place) = (0, 0, 0);
            for ((axis, &position), slot) in axes.iter().zip(at).zip(slot) {
                let Some(phase) = axis.phases[position % axis.stride] else { return };
                array = array * axis.phase_count() + phase;
                first += position / axis.stride * slot;
                place += position * axis.x_stride;
            }
            rows.push(RowOfX { array, slot: first, place, at: at.to_vec() });
        });
    }

    fn fill_runs(&mut self, axes: &[Axis]) {
        let whole: Vec<usize> = axes.iter().map(|axis| axis.output).collect();
        let y = strides(&whole);
        // Inner axes of which Y has no output outside the block, and slots no position that is not an output.
        let mut first = axes.len() - 1;
        self.run = self.outputs[first];
        while first > 0 && self.slots[first] == self.outputs[first] && whole[first] == self.outputs[first] {
            first -= 1;
            self.run *= self.outputs[first];
        }
        let (runs, slot) = (&mut self.runs, &self.slot);
        for_each(&self.outputs[..first], |at| {
            let place = |strides: &[usize]| at.iter().zip(strides).map(|(at, stride)| at * stride).sum();
            runs.push(Run { slot: place(slot), place: place(&y) });
        });
    }

    /// The slots of a row along the innermost axis.
    pub fn row_slots(&self) -> usize {
        match self.slot.len() {
            1 => self.lanes,
            axes => self.slot[axes - 2],
        }
    }

    /// Slots up to the last output's.
    pub fn finished(&self) -> usize {
        match &self.runs[..] {
            [.., last] => last.slot + self.run,
            [] => 0,
        }
    }

    /// All lanes of the arrays that were loaded.
    pub fn loaded(&self) -> usize {
        self.arrays * self.pitch
    }

    /// All lanes of the arrays that a step writes, at most.
    pub fn reduced(&self) -> usize {
        self.reduced_arrays * self.pitch
    }
}

/// For each tuple of positions, the last axis fastest, the sum of what each axis has at its position.
pub(crate) fn sums(of_axes: &[Vec<i64>]) -> Vec<i64> {
    let mut sums = vec![0];
    for axis in of_axes.iter().rev() {
        sums = axis.iter().flat_map(|&outer| sums.iter().map(move |inner| outer.wrapping_add(*inner))).collect();
    }
    sums
}

/// Elements from one position of each axis to the next, of a dense tensor.
pub(crate) fn strides(extents: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; extents.len()];
    for axis in (0..extents.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * extents[axis + 1];
    }
    strides
}
