//! What the rows of a block have in common.

use super::axes::Axis;
use super::block::Block;
use crate::options::NanPolicy;

/// What the rows of a block have in common.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    /// What each output of a row adds to the index of the first one, and to that of the first one's first element.
    pub along: Vec<i64>,
    pub other_along: Vec<i64>,
    /// Outputs whose windows begin before X, each with the phase and the slot of its first element.
    pub border: Vec<(usize, usize, usize)>,
    /// Outputs whose windows are empty.
    pub empty: Vec<usize>,
}

impl Tables {
    pub fn fill(&mut self, axes: &[Axis], block: &Block<'_>, nan_policy: NanPolicy, channels_inside: bool) {
        let last = axes.len() - 1;
        let (axis, first) = (&axes[last], block.first[last]);
        let seeds_lowest = nan_policy == NanPolicy::SeedLowest;
        let Tables { along, other_along, border, empty } = self;
        along.clear();
        other_along.clear();
        border.clear();
        empty.clear();
        for lane in 0..block.layout.outputs[last] {
            let output = first + lane;
            let ahead = axis.skipped(output) * axis.dilation;
            let own = ((lane * axis.stride) as i64).wrapping_mul(axis.index_stride);
            along.push(own);
            other_along.push(match (seeds_lowest, channels_inside) {
                (true, false) => 0,
                (true, true) => own,
                _ => own.wrapping_add((ahead as i64).wrapping_mul(axis.index_stride)),
            });
            let position = lane * axis.stride + ahead;
            if axis.is_empty(output) {
                empty.push(lane);
            } else if let (1.., Some(phase)) = (ahead, axis.phases[position % axis.stride]) {
                border.push((lane, phase, position / axis.stride));
            }
        }
    }
}
