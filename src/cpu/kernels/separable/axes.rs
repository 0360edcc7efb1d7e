//! The axes of a separable pool, the steps in which they are reduced, and the sizes of blocks: pure functions.

use super::lane::PACKED_TAPS;
use crate::cpu::kernels::view::View;
use crate::geometry::AxisWindow;
use crate::options::Layout;

/// An axis of X: planes, the spatial axes, and channels where they lie innermost. The first one and the channels have windows
/// of one element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub input: usize,
    pub output: usize,
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    /// Positions of the first window before the first element; negative ones after it.
    pub pad: i64,
    pub x_stride: usize,
    pub index_stride: i64,
    /// The number of each phase that taps have, in the order of the remainders.
    pub phases: Vec<Option<usize>>,
}

impl Axis {
    fn new(input: usize, output: usize, [kernel, stride, dilation]: [usize; 3], pad: i64) -> Axis {
        let mut phases = vec![None; stride];
        let mut used: Vec<usize> = (0..kernel.min(stride)).map(|tap| tap * dilation % stride).collect();
        used.sort_unstable();
        used.dedup();
        used.iter().enumerate().for_each(|(number, &phase)| phases[phase] = Some(number));
        Axis { input, output, kernel, stride, dilation, pad, x_stride: 0, index_stride: 0, phases }
    }

    /// The distance from a window's first tap to its last one.
    pub fn reach(&self) -> usize {
        (self.kernel - 1) * self.dilation
    }

    /// The position in X of the first tap of a window, padding included.
    pub fn start(&self, output: usize) -> i64 {
        output as i64 * self.stride as i64 - self.pad
    }

    /// The taps before the first one that is not before X.
    pub fn skipped(&self, output: usize) -> usize {
        ((-self.start(output)).max(0) as usize).div_ceil(self.dilation)
    }

    /// Whether a window has no element.
    pub fn is_empty(&self, output: usize) -> bool {
        let skipped = self.skipped(output);
        skipped >= self.kernel || self.start(output) + (skipped * self.dilation) as i64 >= self.input as i64
    }

    /// The number of phases that taps have.
    pub fn phase_count(&self) -> usize {
        self.phases.iter().flatten().count()
    }
}

/// The largest reach of a window: farther ones would load much that no window reads.
const MOST_REACH: i64 = 4096;
/// The most elements of the box that a window spans: as many taps as a packed lane tells apart.
const MOST_LANES: usize = PACKED_TAPS;
/// The largest stride.
const MOST_STRIDE: i64 = 4096;

/// The axes of a pool of strided windows; the reason why not, for others.
pub(crate) fn axes(view: &View) -> Result<Vec<Axis>, &'static str> {
    let mut axes = vec![Axis::new(view.outer, view.outer, [1; 3], 0)];
    for axis in &view.axes {
        let AxisWindow::Strided { kernel, stride, dilation, pad_begin } = axis.window else {
            return Err("its windows are not strided");
        };
        // The dilation of a single tap and the stride of a single window are without meaning.
        let dilation = if kernel == 1 { 1 } else { dilation };
        let stride = if axis.output == 1 { 1 } else { stride };
        let reach = (kernel - 1).saturating_mul(dilation);
        if reach > MOST_REACH || stride > MOST_STRIDE || pad_begin.saturating_abs() > MOST_REACH.saturating_mul(2) {
            return Err("its windows are too far apart or reach too far");
        }
        let numbers = [kernel as usize, stride as usize, dilation as usize];
        let own = Axis::new(axis.input, axis.output, numbers, pad_begin);
        axes.push(Axis { x_stride: axis.x_stride, index_stride: axis.index_stride, ..own });
    }
    // A block loads at least the box that a window spans.
    let window = axes.iter().fold(1usize, |window, axis| window.saturating_mul(axis.reach() + 1));
    if window > MOST_LANES {
        return Err("its windows reach too far");
    }
    axes[0].x_stride = view.plane();
    // The planes of a block: `block` takes one at a time where their indices are not evenly apart.
    axes[0].index_stride = if view.layout == Layout::Nchw { view.index_c } else { view.index_n };
    if view.inner != 1 {
        let channels = Axis::new(view.inner, view.inner, [1; 3], 0);
        axes.push(Axis { x_stride: 1, index_stride: view.index_c, ..channels });
    }
    Ok(axes)
}

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

/// The steps that reduce the axes, from the innermost outwards. There is at least one.
pub(crate) fn steps(axes: &[Axis]) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut unit = 1i32;
    for (number, axis) in axes.iter().enumerate().rev() {
        let tap = |tap: usize| Tap {
            phase: axis.phases[tap * axis.dilation % axis.stride].unwrap_or(0),
            shift: tap * axis.dilation / axis.stride,
            taps: (tap as i32).wrapping_mul(unit),
            index: (tap * axis.dilation) as i64 * axis.index_stride,
        };
        let last = number == 0 && steps.is_empty();
        if last || axis.kernel > 1 && (axis.stride > 1 || axis.kernel <= DIRECT) {
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
    let lanes = if halo > 128 { FAR_BYTES } else { NEAR_BYTES } / lane_bytes;
    let mut block = vec![1; axes.len()];
    let inputs = |axis: &Axis, outputs: usize| (outputs - 1) * axis.stride + axis.reach() + 1;
    let mut volume: usize = axes.iter().map(|axis| inputs(axis, 1)).product();
    for (number, axis) in axes.iter().enumerate().rev() {
        let others = volume / inputs(axis, 1);
        let room = (lanes / others.max(1)).saturating_sub(axis.reach() + 1) / axis.stride + 1;
        let most = match number {
            0 => most_planes,
            _ if number + 1 == axes.len() => LANE_OUTPUTS.max(2 * axis.reach()),
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
const FAR_BYTES: usize = 160 << 10;
/// The most outputs of a block along the innermost axis, unless its windows reach far.
const LANE_OUTPUTS: usize = 2048;
