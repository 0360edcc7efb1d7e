//! Where the lanes of a block lie in scratch memory: a pure function of the block's extents.

use super::axes::{Axis, Step};

/// Lanes between two arrays beyond what they hold, so that they begin in different sets of a cache.
const SLACK: usize = 16;

/// A box of outputs, and the arrays of its lanes. An array has the lanes of one phase of every axis, a slot for each position
/// of the phase, the innermost axis without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
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
}

impl Layout {
    pub fn new(axes: &[Axis], first_step: &Step, outputs: &[usize]) -> Layout {
        let slots = |axis: &Axis, outputs: usize| outputs + axis.reach() / axis.stride;
        let positions = axes.iter().zip(outputs).map(|(axis, &outputs)| (outputs - 1) * axis.stride + axis.reach() + 1);
        let mut slot = vec![1; axes.len()];
        for number in (0..axes.len() - 1).rev() {
            slot[number] = slot[number + 1] * slots(&axes[number + 1], outputs[number + 1]);
        }
        let lanes = slot[0] * slots(&axes[0], outputs[0]);
        let arrays: usize = axes.iter().map(Axis::phase_count).product();
        Layout {
            outputs: outputs.to_vec(),
            slot,
            positions: positions.collect(),
            pitch: lanes.next_multiple_of(SLACK) + SLACK,
            lanes,
            arrays,
            reduced_arrays: arrays / axes[first_step.axis].phase_count(),
        }
    }

    /// The slots of the innermost axis.
    pub fn row_slots(&self) -> usize {
        match self.slot.len() {
            1 => self.lanes,
            axes => self.slot[axes - 2],
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
