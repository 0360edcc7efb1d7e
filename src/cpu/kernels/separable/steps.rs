//! The steps in which the axes of a separable pool are reduced, and the sizes of blocks: pure functions.

use crate::cpu::kernels::axes::Axis;

/// One tap of a step: which lanes it reads, and how far ahead of the step's first tap it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tap {
    /// The number of its phase, and positions along the axis in that phase.
    pub phase: usize,
    pub shift: usize,
    /// In taps of the axis, times what a tap of the axis counts in all taps of a window.
    pub taps: i32,
    /// What it adds to the index.
    pub index: i64,
}

/// A pass over the lanes of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub axis: usize,
    pub taps: Vec<Tap>,
}

impl Step {
    /// The furthest shift.
    pub fn shift(&self) -> usize {
        self.taps.iter().map(|tap| tap.shift).max().unwrap_or(0)
    }
}

/// The taps of windows longer than this are reduced by steps that each cover up to four times as many taps as the one before,
/// so that the cost grows with the logarithm of the window.
const DIRECT: usize = 5;

/// The steps that reduce the axes, from the innermost outwards. There is at least one along axis `inner`.
pub(crate) fn steps(axes: &[Axis], inner: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut unit = 1i32;
    for (number, axis) in axes.iter().enumerate().rev() {
        let tap = |tap: usize| Tap {
            phase: axis.phases[tap * axis.dilation % axis.stride].unwrap_or(0),
            shift: tap * axis.dilation / axis.stride,
            taps: (tap as i32).wrapping_mul(unit),
            index: ((tap * axis.dilation) as i64).wrapping_mul(axis.index_stride),
        };
        if number == inner && axis.kernel == 1 || axis.kernel > 1 && (axis.stride > 1 || axis.kernel <= DIRECT) {
            steps.push(Step { axis: number, taps: (0..axis.kernel).map(tap).collect() });
        } else {
            let mut covered = 1;
            while covered < axis.kernel {
                let count = axis.kernel.div_ceil(covered).min(4);
                let first = |number: usize| (number * covered).min(axis.kernel - covered);
                steps.push(Step { axis: number, taps: (0..count).map(|number| tap(first(number))).collect() });
                covered = (covered * count).min(axis.kernel);
            }
        }
        unit = unit.wrapping_mul(axis.kernel as i32);
    }
    steps
}

/// The extents in outputs of a block whose lanes fit a number of bytes in scratch memory.
pub(crate) fn block(axes: &[Axis], lane_bytes: usize, most_planes: usize) -> Vec<usize> {
    // Far windows need larger blocks, so that most of what is loaded belongs to more than one window.
    let halo: usize = axes.iter().map(|axis| axis.reach() + 1).product();
    let far = halo > 128;
    let bytes = |number: usize| if far && number > 0 { FAR_BYTES } else { NEAR_BYTES };
    let lane_outputs = if far { FAR_ROW_BYTES } else { NEAR_ROW_BYTES } / lane_bytes;
    let mut block = vec![1; axes.len()];
    let inputs = |axis: &Axis, outputs: usize| (outputs - 1) * axis.stride + axis.reach() + 1;
    // Axes that have not had their turn get this much: a few windows' length where windows are far.
    let least = |axis: &Axis| {
        let several = if far && axis.reach() > 0 { 3 } else { 1 };
        (several * inputs(axis, 1)).min(inputs(axis, axis.output.max(1)))
    };
    let mut volume: usize = axes.iter().map(least).product();
    for (number, axis) in axes.iter().enumerate().rev() {
        let others = volume / least(axis);
        let room = (bytes(number) / lane_bytes / others.max(1)).saturating_sub(axis.reach() + 1) / axis.stride + 1;
        let most = match number {
            0 => most_planes,
            _ if number + 1 == axes.len() => lane_outputs.max(2 * axis.reach()),
            _ => usize::MAX,
        };
        let outputs = room.min(most).min(axis.output.max(1));
        // Blocks of about the same size.
        block[number] = axis.output.max(1).div_ceil(axis.output.max(1).div_ceil(outputs));
        volume = others * inputs(axis, block[number]);
    }
    block
}

/// Bytes of the lanes of a block.
const NEAR_BYTES: usize = 48 << 10;
const FAR_BYTES: usize = 320 << 10;
/// The most bytes of the outputs of a block along the innermost axis, unless its windows reach far.
const NEAR_ROW_BYTES: usize = 8 << 10;
const FAR_ROW_BYTES: usize = 2 << 10;
