//! The steps that reduce the axes of a separable pool, and the sizes of blocks: pure functions.

use crate::kernels::axes::Axis;
use crate::kernels::tuning::separable::{DIRECT, FAR_HALO, MOST_LOADS, NEAR, SIZES, Size};

/// One tap of a step: the lanes that it reads, and its distance from the step's first tap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tap {
    /// The number of its phase, and its distance in positions of that phase.
    pub phase: usize,
    pub shift: usize,
    /// Its distance in taps of the whole window.
    pub taps: i32,
    /// The amount that it adds to the index.
    pub index: i64,
}

/// A pass over the lanes of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Join {
    pub axis: usize,
    pub taps: Vec<Tap>,
}

impl Join {
    /// The largest shift of a tap.
    pub fn shift(&self) -> usize {
        self.taps.iter().map(|tap| tap.shift).max().unwrap_or(0)
    }
}

/// The steps that reduce the axes, from the innermost outwards. There is at least one along axis `inner`.
pub(crate) fn steps(axes: &[Axis], inner: usize) -> Vec<Join> {
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
            steps.push(Join { axis: number, taps: (0..axis.kernel).map(tap).collect() });
        } else {
            let mut covered = 1;
            while covered < axis.kernel {
                let count = axis.kernel.div_ceil(covered).min(4);
                let first = |number: usize| (number * covered).min(axis.kernel - covered);
                steps.push(Join { axis: number, taps: (0..count).map(|number| tap(first(number))).collect() });
                covered = (covered * count).min(axis.kernel);
            }
        }
        unit = unit.wrapping_mul(axis.kernel as i32);
    }
    steps
}

/// The extents of a block in outputs. It has the smallest size that loads each element at most `MOST_LOADS` times on
/// average: windows of neighbouring blocks share elements, and each of these blocks loads them.
pub(crate) fn block(axes: &[Axis], bytes: usize, lane_bytes: usize, most_planes: usize) -> Vec<usize> {
    let halo: usize = axes.iter().map(|axis| axis.reach() + 1).product();
    let sizes = if halo > FAR_HALO { &SIZES[1..] } else { &SIZES[..] };
    let of_size = |size| block_of_size(axes, size, lane_bytes, most_planes);
    let blocks = sizes.iter().map(of_size);
    blocks
        .reduce(|smaller, larger| if loads(axes, &smaller, bytes) <= MOST_LOADS { smaller } else { larger })
        .unwrap_or_default()
}

/// The mean number of times that an element of X is loaded, in whole cache lines.
fn loads(axes: &[Axis], block: &[usize], bytes: usize) -> f64 {
    let along = |(axis, &outputs): (&Axis, &usize)| {
        let blocks = axis.output.max(1).div_ceil(outputs);
        blocks as f64 * inputs(axis, outputs) as f64 / inputs(axis, axis.output.max(1)) as f64
    };
    let elements: f64 = axes.iter().zip(block).map(along).product();
    // A piece of the innermost axis begins anywhere in a line.
    let lines = match (axes.last(), block.last()) {
        (Some(axis), Some(&outputs)) if outputs < axis.output => {
            1.0 + LINE.saturating_sub(bytes) as f64 / (inputs(axis, outputs) * bytes) as f64
        }
        _ => 1.0,
    };
    elements * lines
}

/// The positions that the windows of neighbouring outputs span.
fn inputs(axis: &Axis, outputs: usize) -> usize {
    (outputs - 1) * axis.stride + axis.reach() + 1
}

/// The extents of a block whose lanes fit a number of bytes in scratch memory.
fn block_of_size(axes: &[Axis], size: &Size, lane_bytes: usize, most_planes: usize) -> Vec<usize> {
    let bytes = |number: usize| if number > 0 { size.bytes } else { NEAR.bytes };
    let lane_outputs = size.row_bytes / lane_bytes;
    let mut block = vec![1; axes.len()];
    // The room that is reserved for axes whose extents are not yet chosen.
    let least = |axis: &Axis| {
        let windows = if axis.reach() > 0 { size.windows } else { 1 };
        (windows * inputs(axis, 1)).min(inputs(axis, axis.output.max(1)))
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
        // Makes all blocks about the same size.
        block[number] = axis.output.max(1).div_ceil(axis.output.max(1).div_ceil(outputs));
        volume = others * inputs(axis, block[number]);
    }
    block
}

/// The bytes of a cache line.
const LINE: usize = 64;
