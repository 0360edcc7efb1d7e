//! Where the lanes of a block lie in scratch memory. The layout is a pure function of the block's extents.

use wgpu_pooling_plan::internal::for_each;

use super::steps::Join;
use crate::kernels::axes::Axis;
use crate::kernels::tuning::separable::LOADED_AT_ONCE;

/// The lanes between two arrays, so that they begin in different sets of the cache.
const SLACK: usize = 16;

/// A box of outputs, and the arrays of its lanes. Each array of reduced rows has one phase of every outer axis. It has
/// a slot for each position of that phase, and a slot contains the maxima along one row without gaps. The maximum of a
/// window has the slot of the window's first tap, in phase 0.
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
    /// The number of arrays of reduced rows, and of arrays after the first step along an outer axis.
    pub arrays: usize,
    pub reduced_arrays: usize,
    pub row: RowLayout,
    /// The rows of X that windows contain, in the order in which they are loaded.
    pub rows: Vec<BlockRow>,
    /// Runs of outputs whose slots are neighbours and that are neighbours in Y.
    pub runs: Vec<OutputRun>,
    /// The length of a run.
    pub run: usize,
    /// Slots along each axis.
    pub slots: Vec<usize>,
}

/// Where the lanes of a row lie: the positions along the innermost spatial axis, each with its channels if they lie
/// innermost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RowLayout {
    pub channels: usize,
    /// The lanes of each phase as they are loaded, padding included, and the lanes of the maxima.
    pub loaded: usize,
    pub reduced: usize,
    /// The most rows that are loaded together, and lanes from one phase of them to the next.
    pub at_once: usize,
    pub pitch: usize,
    pub phases: usize,
}

/// A row of the block along its innermost spatial axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockRow {
    /// The array of its maxima, and the lane of the first one in that array.
    pub array: usize,
    pub slot: usize,
    /// Its place in X, relative to the block's first row.
    pub place: usize,
    /// Its position along each outer axis.
    pub at: Vec<usize>,
}

/// Outputs that are neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputRun {
    /// The first slot.
    pub slot: usize,
    /// Its place in Y, relative to the block's first output.
    pub place: usize,
}

impl BlockLayout {
    /// Axes from `inner` on form a row. `first` is the first step along an outer axis, if there is one.
    pub fn new(axes: &[Axis], inner: usize, first: Option<&Join>, outputs: &[usize]) -> BlockLayout {
        let positions = axes.iter().zip(outputs).map(|(axis, &outputs)| (outputs - 1) * axis.stride + axis.reach() + 1);
        let mut slots = outputs.to_vec();
        slots.iter_mut().zip(&axes[..inner]).for_each(|(slots, axis)| *slots = axis.slots(*slots));
        let slot = strides(&slots);
        let lanes = slot[0] * slots[0];
        let arrays: usize = axes[..inner].iter().map(Axis::phase_count).product();
        let channels = outputs[inner + 1..].iter().product::<usize>();
        let loaded = axes[inner].slots(outputs[inner]) * channels;
        let phases = axes[inner].phase_count();
        let at_once = (LOADED_AT_ONCE / (loaded * phases)).max(1);
        let mut layout = BlockLayout {
            outputs: outputs.to_vec(),
            positions: positions.collect(),
            pitch: lanes.next_multiple_of(SLACK) + SLACK,
            lanes,
            arrays,
            reduced_arrays: first.map_or(0, |first| arrays / axes[first.axis].phase_count()),
            row: RowLayout {
                channels,
                loaded,
                reduced: outputs[inner] * channels,
                at_once,
                pitch: (at_once * loaded).next_multiple_of(SLACK) + SLACK,
                phases,
            },
            rows: Vec::new(),
            runs: Vec::new(),
            run: 0,
            slot,
            slots,
        };
        layout.fill_rows(axes, inner);
        layout.fill_runs(axes);
        layout
    }

    fn fill_rows(&mut self, axes: &[Axis], inner: usize) {
        let (rows, slot) = (&mut self.rows, &self.slot);
        for_each(&self.positions[..inner], &mut |at| {
            let (mut array, mut first, mut place) = (0, 0, 0);
            for ((axis, &position), slot) in axes.iter().zip(at).zip(slot) {
                let Some(phase) = axis.phases[position % axis.spacing] else { return };
                array = array * axis.phase_count() + phase;
                first += position / axis.spacing * slot;
                place += position * axis.x_stride;
            }
            rows.push(BlockRow { array, slot: first, place, at: at.to_vec() });
        });
        // All arrays are filled at the same rate.
        let group = self.row.at_once * self.row.reduced;
        rows.sort_by_key(|row| (row.slot / group, row.array, row.slot));
    }

    fn fill_runs(&mut self, axes: &[Axis]) {
        let whole: Vec<usize> = axes.iter().map(|axis| axis.output).collect();
        let y = strides(&whole);
        // The inner axes along which the block contains all outputs of Y, and along which every slot is an output.
        let mut first = axes.len() - 1;
        self.run = self.outputs[first];
        let has_all = |axis: usize| self.slots[axis] == self.outputs[axis] && whole[axis] == self.outputs[axis];
        while first > 0 && has_all(first) && axes[first - 1].pick() == 1 {
            first -= 1;
            self.run *= self.outputs[first];
        }
        let (runs, slot) = (&mut self.runs, &self.slot);
        for_each(&self.outputs[..first], &mut |at| {
            let place = at.iter().zip(&y).map(|(at, stride)| at * stride).sum();
            let slot = at.iter().zip(slot).zip(axes).map(|((at, slot), axis)| at * axis.pick() * slot).sum();
            runs.push(OutputRun { slot, place });
        });
    }
}

/// For each tuple of positions, the last axis fastest: the sum of the values that the axes have at their positions,
/// converted by `convert`. The previous contents of `sums` are replaced.
pub(crate) fn sums<P>(sums: &mut Vec<P>, of_axes: &[Vec<i64>], convert: impl Fn(i64) -> P) {
    sums.clear();
    let Some((innermost, others)) = of_axes.split_last() else { return };
    sums.reserve(of_axes.iter().map(Vec::len).product());
    let extents: Vec<usize> = others.iter().map(Vec::len).collect();
    for_each(&extents, &mut |at| {
        let outer = others.iter().zip(at).fold(0i64, |sum, (of_axis, &at)| sum.wrapping_add(of_axis[at]));
        sums.extend(innermost.iter().map(|inner| convert(outer.wrapping_add(*inner))));
    });
}

/// The strides of a dense tensor, in elements.
pub(crate) fn strides(extents: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; extents.len()];
    for axis in (0..extents.len().saturating_sub(1)).rev() {
        strides[axis] = strides[axis + 1] * extents[axis + 1];
    }
    strides
}
