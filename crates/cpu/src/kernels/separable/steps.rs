//! The steps that reduce the axes of a separable pool, and the sizes of blocks: pure functions.

use crate::kernels::axes::Axis;
use crate::kernels::tuning::separable::{DIRECT, FAR_HALO, NEAR, SIZES, Size};

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
    /// Whether it adds taps of lanes as they were loaded to the maxima of the step before.
    pub adds: bool,
}

impl Join {
    /// The largest shift of a tap.
    pub fn shift(&self) -> usize {
        self.taps.iter().map(|tap| tap.shift).max().unwrap_or(0)
    }
}

/// The steps that reduce the axes, from the innermost outwards. There is at least one along axis `inner`.
///
/// Long windows are reduced in steps that each cover up to four times as many taps as the one before. Where lanes are
/// sorted by phases, the first step covers the phases' first taps, and the last one adds the taps that are left over:
///
/// ```text
/// stride 2, kernel 9      taps 0 1 2 3 4 5 6 7 8
/// a tap of each phase          ---
/// four of these                --- --- --- ---
/// what is left over                            -
/// ```
pub(crate) fn steps(axes: &[Axis], inner: usize) -> Vec<Join> {
    let mut steps = Vec::new();
    let mut unit = 1i32;
    for (number, axis) in axes.iter().enumerate().rev() {
        let tap = |tap: usize| Tap {
            phase: axis.phases[tap * axis.dilation % axis.spacing].unwrap_or(0),
            shift: tap * axis.dilation / axis.spacing,
            taps: (tap as i32).wrapping_mul(unit),
            index: ((tap * axis.dilation) as i64).wrapping_mul(axis.index_stride),
        };
        let mut push = |taps: &mut dyn Iterator<Item = usize>, adds| {
            steps.push(Join { axis: number, taps: taps.map(tap).collect(), adds });
        };
        // Taps of one phase are this many taps apart.
        let period = axis.phase_count();
        let whole = axis.kernel / period;
        let covers = covers(whole);
        let stepwise = covers.iter().sum::<usize>() + axis.kernel % period + if period > 1 { period } else { 0 };
        let in_steps = if period == 1 { axis.kernel > DIRECT } else { number == inner && stepwise < axis.kernel };
        if in_steps {
            if period > 1 {
                push(&mut (0..period), false);
            }
            let mut covered = 1;
            for count in covers {
                push(&mut (0..count).map(|number| (number * covered).min(whole - covered) * period), false);
                covered = (covered * count).min(whole);
            }
            if axis.kernel % period > 0 {
                push(&mut (whole * period..axis.kernel), true);
            }
        } else if number == inner || axis.kernel > 1 {
            push(&mut (0..axis.kernel), false);
        }
        unit = unit.wrapping_mul(axis.kernel as i32);
    }
    steps
}

/// The numbers of taps of the steps that reduce a window of so many neighbours.
pub(crate) fn covers(kernel: usize) -> Vec<usize> {
    let (mut covers, mut covered) = (Vec::new(), 1);
    while covered < kernel {
        let count = kernel.div_ceil(covered).min(4);
        covers.push(count);
        covered = (covered * count).min(kernel);
    }
    covers
}

/// The extents of a block in outputs. It has the smallest size that loads each element seldom enough on average:
/// windows of neighbouring blocks share elements, and each of these blocks loads them.
pub(crate) fn block(axes: &[Axis], bytes: usize, lane_bytes: usize, most_planes: usize) -> Vec<usize> {
    let halo: usize = axes.iter().map(|axis| axis.reach() + 1).product();
    let sizes = if halo > FAR_HALO { &SIZES[1..] } else { &SIZES[..] };
    // Long windows along rows alone share most in long blocks. Those with indices took three times as long in them.
    let outer = axes.split_last().map_or(&[][..], |(_, outer)| outer);
    let in_rows = lane_bytes == bytes && halo > FAR_HALO && outer.iter().all(|axis| axis.reach() == 0);
    let of_size = |size: &Size| match in_rows {
        true => block_of_size(axes, &Size { row_bytes: size.bytes, ..*size }, lane_bytes, most_planes),
        false => block_of_size(axes, size, lane_bytes, most_planes),
    };
    let last = &SIZES[SIZES.len() - 1];
    let far = Size { bytes: last.bytes.max(room(axes, last).saturating_mul(lane_bytes)), ..*last };
    let blocks = sizes.iter().chain([&far]).map(|size| (size.most_loads, of_size(size)));
    blocks
        .reduce(|smaller, larger| if loads(axes, &smaller.1, bytes) <= smaller.0 { smaller } else { larger })
        .map_or_else(Vec::new, |(_, block)| block)
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

/// The room that is reserved for an axis whose extent is not yet chosen, and for all of them.
fn reserved(axis: &Axis, size: &Size) -> usize {
    let windows = if axis.reach() > 0 { size.windows } else { 1 };
    (windows * inputs(axis, 1)).min(inputs(axis, axis.output.max(1)))
}

fn room(axes: &[Axis], size: &Size) -> usize {
    axes.iter().map(|axis| reserved(axis, size)).product()
}

/// The extents of a block whose lanes fit a number of bytes in scratch memory.
fn block_of_size(axes: &[Axis], size: &Size, lane_bytes: usize, most_planes: usize) -> Vec<usize> {
    let bytes = |number: usize| if number > 0 { size.bytes } else { NEAR.bytes };
    let lane_outputs = size.row_bytes / lane_bytes;
    let mut block = vec![1; axes.len()];
    let mut volume = room(axes, size);
    for (number, axis) in axes.iter().enumerate().rev() {
        let others = volume / reserved(axis, size);
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
