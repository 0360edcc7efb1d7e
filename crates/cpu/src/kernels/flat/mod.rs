//! Pools without indices, with small strides along the rows and windows of up to 125 x 125: rows that follow each other
//! in memory are reduced as one row, first along themselves and then across rows.
//!
//! ```text
//! X, 3 rows of 5     a b c d e f g h i j k l m n o
//! along the rows       * * *|*|* * * *|*|* * * *          each is the maximum of three neighbours
//!                    #     |#|#     |#|#         #        windows at the borders have fewer taps: written again
//! across the rows    each is the maximum of what lies a row above, here and a row below
//! ```
//!
//! Vectors are full up to the end of the joined row, however short the rows are. The reduced rows of a band stay in
//! cache; with more than two axes, reduced planes are cached while windows contain them.
//!
//! Windows of more than [`MOST_AT_BORDERS`] taps are reduced in steps (`reduce_taps`).
//! Rows are copied first, with the padding as the lowest lanes, so that no window is cut at a border. Minima are maxima
//! of inverted bits: elements are inverted as they are copied, and outputs once more.
//!
//! If the stride along the rows is larger than 1, the maxima of windows at all positions of a band are computed first,
//! and those at outputs are copied to Y.
//!
//! Let c(v) be v, or the lowest lane if v is NaN. A reduction begins with the lowest lane, which NaN never replaces,
//! and takes taps in row-major order, so it gives m, the first of the greatest c(v). The rule begins with the window's
//! first element and ends with m if that is greater. So it ends with the first element if that is NaN, and in all other
//! cases with m: if the first element is not less than m, it is itself the first of the greatest. In bands that have a
//! NaN, outputs whose first element is NaN are therefore written again. Where NaN wins, such bands have lanes which the
//! last NaN replaces, and m is the last NaN.

mod band;
mod job;
mod pick;
mod steps;
#[cfg(test)]
mod tests;

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::advance;
use wgpu_pooling_plan::{ExecuteError, with_element};

use self::band::{Band, Strip, position};
use self::job::{BandBuffers, BandJob, WindowPlanes};
use self::steps::EvenTaps;
use super::axes::Axis;
use super::elements::LaneElement;
use super::kernel::{Offer, OfferedPool, Operands, PoolKernel};
use super::lane::Code;
use super::parts::{PartOf, few_parts};
use super::scratch::{ThreadMemory, allocate, words_of};
use super::tuning::flat::{
    AT_ONCE_BYTES, BAND_BYTES, BYTE, EDGE, HALF, JOB, LOADED, LOADED_ROW, MOST_AT_BORDERS, MOST_BYTES, MOST_COLUMNS,
    MOST_KEPT, MOST_SPAN, MOST_STRIDE, PICKED_8, ROW, ROW_BYTES, ROWS_OF_SHARED, TAP,
};

/// A pool with small strides along the rows.
#[derive(Debug)]
pub(crate) struct Flat {
    /// The last spatial axis has stride 1 here, whatever the stride of the pool.
    axes: Vec<Axis>,
    /// The pool's stride along a row, and the number of outputs of a row.
    stride: usize,
    outputs: usize,
    /// The neighbouring elements at each position: the channels in NHWC.
    inner: usize,
    /// The number of the axis across the rows. The axis along the rows is the next one.
    down: usize,
    /// The axes across and along the rows, as windows are reduced: with the padding as lanes if windows are long.
    lanes: [Axis; 2],
    /// Whether it is with the padding.
    padded: bool,
    /// The bits that are inverted in elements, for minima.
    inverted: u64,
    /// The most planes of a window: the product of its extents along the axes between the first one and `down`.
    planes: usize,
    strips: Vec<Strip>,
    /// The most rows of outputs of a band.
    rows: usize,
}

/// How a pool is cut into bands.
struct FlatSizes<'a> {
    axes: &'a [Axis],
    /// The axis along the rows with stride 1, and its own stride and outputs.
    along: Axis,
    stride: usize,
    outputs: usize,
    /// See [`Flat`].
    down: usize,
    planes: usize,
    /// The columns of a strip, and the rows of outputs of a band.
    columns: usize,
    rows: usize,
    lanes: [Axis; 2],
    padded: bool,
    inverted: u64,
}

impl<'a> FlatSizes<'a> {
    /// `Err` says why the kernel does not apply.
    fn new(pool: &'a OfferedPool<'a>) -> Result<FlatSizes<'a>, &'static str> {
        let (plan, view) = (pool.plan, pool.view);
        if plan.indices.is_some() {
            return Err("it has values alone");
        }
        if plan.has_empty_windows() {
            return Err("windows are empty");
        }
        let axes = pool.axes()?;
        let spatial = if view.inner == 1 { axes } else { &axes[..axes.len() - 1] };
        let [_, outer @ .., down, along] = spatial else { return Err("it has a single axis") };
        let (stride, outputs) = (along.stride, along.output);
        if stride > MOST_STRIDE {
            return Err("windows are far apart along the rows");
        }
        // As many columns as X has, if this is enough: then rows of X that follow each other are one row.
        let dense = if along.input > outputs.saturating_sub(1).saturating_mul(stride) {
            along.input
        } else {
            outputs.saturating_mul(stride)
        };
        let along = if stride == 1 { along.clone() } else { along.dense(dense) };
        let planes = outer.iter().fold(1, |planes: usize, axis| planes.saturating_mul(axis.kernel));
        if along.kernel.max(down.kernel) > EvenTaps::MOST || planes > MOST_KEPT || down.reach() >= MOST_SPAN {
            return Err("its windows have too many taps");
        }
        let padded = along.kernel.max(down.kernel) > MOST_AT_BORDERS;
        let lanes = if padded { [down.padded(), along.padded()] } else { [down.clone(), along.clone()] };
        if along.input.max(along.output) > MOST_COLUMNS {
            return Err("its rows are too long");
        }
        // The arrays are: rows as lanes, reduced rows, maxima as lanes, maxima at all positions if the stride is larger
        // than 1, reduced planes, and the steps of long windows. All have the widest lanes of the elements.
        let steps = 2 * usize::from(padded);
        let arrays = 3 + usize::from(stride > 1) + if planes > 1 { planes } else { 0 } + steps;
        let lane = plan.dtype().bytes() * if pool.is_half() { 2 } else { 1 };
        let of_position = lane.saturating_mul(view.inner).max(1);
        let fewest_rows = (ROWS_OF_SHARED * down.reach()).max(1);
        let at_once = arrays * (fewest_rows + down.reach());
        let columns = (ROW_BYTES / of_position).max(1).min(MOST_BYTES / of_position.saturating_mul(at_once));
        let columns = columns / stride * stride;
        if columns == 0 {
            return Err("it has too many channels");
        }
        let columns = if along.output <= columns * 2 { along.output.max(1) } else { columns };
        if columns < along.output && columns < along.reach() {
            return Err("its strips are narrower than windows");
        }
        let rows = (BAND_BYTES / arrays / (of_position * columns)).saturating_sub(down.reach()).max(fewest_rows);
        let (down, inverted) = (spatial.len() - 2, plan.reduction.mirror_bits(plan.dtype()));
        Ok(FlatSizes { axes, along, stride, outputs, down, planes, columns, rows, lanes, padded, inverted })
    }

    /// The time for all bands of all planes.
    fn cost(&self, pool: &OfferedPool<'_>) -> f64 {
        let FlatSizes { axes, stride, down: number, lanes: [down, along], .. } = self;
        let count = |extent: fn(&Axis) -> usize| axes[..*number].iter().map(|axis| extent(axis) as f64).product();
        // Planes of X that several windows contain are kept once they are reduced along their rows.
        let (planes, planes_of_x): (f64, f64) = (count(|axis| axis.output), count(|axis| axis.input));
        let planes_of_x = if self.planes == 1 { planes } else { planes_of_x };
        let bytes = pool.plan.dtype().bytes();
        let bands = down.output.div_ceil(self.rows) as f64;
        let jobs = (planes / planes_at_once(axes, *number, bytes).max(1) as f64).ceil() * bands;
        let shared = (bands - 1.0) * down.reach() as f64;
        let spanned = down.output.saturating_mul(down.stride).saturating_add(down.reach()).min(down.input);
        let rows_of_x = planes_of_x * (shared + spanned as f64);
        let (rows, width) = (planes * down.output as f64, along.output as f64 * pool.view.inner as f64);
        let joined = along.output == along.input;
        let reduced = |rows: f64, joined: bool| match joined {
            true => pool.vectors(rows * width, bytes),
            false => rows * pool.vectors_of_row(width),
        };
        // Windows at the borders of rows are reduced by loops of their own, if the padding is no lanes.
        let inside = along.inside();
        let loads = |axis: &Axis| match self.padded {
            true => EvenTaps { count: axis.kernel, distance: 1 }.loads(),
            false => axis.kernel,
        };
        let shared_columns = along.output.div_ceil(self.columns.max(1)) * along.reach();
        let over = 1.0 + shared_columns as f64 / along.output.max(1) as f64;
        let along_rows = if inside == 0 { 0.0 } else { reduced(rows_of_x, joined) * loads(along) as f64 * over };
        let across = reduced(rows, down.stride == 1) * (loads(down) + self.planes - 1) as f64;
        let loaded = if self.padded || self.inverted != 0 { reduced(rows_of_x, joined) * over } else { 0.0 };
        let apart = if joined || inside == 0 { 0.0 } else { rows_of_x } + if down.stride == 1 { 0.0 } else { rows };
        let edges = (self.outputs - (inside / stride).min(self.outputs)) as f64;
        let picked = if *stride > 1 && bytes == 1 { pool.vectors(pool.outputs(), bytes) } else { 0.0 };
        pool.cost(&[
            (BYTE, pool.bytes()),
            (JOB, jobs),
            (ROW, apart),
            (TAP, along_rows),
            (LOADED, loaded),
            (LOADED_ROW, if self.padded { rows_of_x } else { 0.0 }),
            (EDGE, jobs * edges),
            (HALF, pool.if_half(along_rows + across)),
            (PICKED_8, picked),
        ])
    }

    fn layout(self, inner: usize) -> Flat {
        let FlatSizes { axes, along, stride, outputs, down, planes, columns, rows, lanes, padded, inverted } = self;
        let strips = (0..along.output).step_by(columns).map(|first| {
            let columns = first..along.output.min(first + columns);
            Strip::new([&lanes[1], &along], columns, stride, outputs)
        });
        let strips = strips.filter(|strip| !strip.outputs.is_empty()).collect();
        let mut axes = axes.to_vec();
        axes[down + 1] = along;
        Flat { stride, outputs, inner, down, lanes, padded, inverted, planes, strips, rows, axes }
    }
}

/// `Err` says why the kernel does not apply.
pub(crate) fn offer<'a>(pool: &'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str> {
    let sizes = FlatSizes::new(pool)?;
    let offer = Offer::new(sizes.cost(pool), move || sizes.layout(pool.view.inner));
    Ok(Offer { mirrors: true, ..offer })
}

/// The number of planes that are computed together if a band has all their rows: several if they are small.
fn planes_at_once(axes: &[Axis], down: usize, bytes: usize) -> usize {
    let plane = axes[0].x_stride.saturating_mul(bytes).max(1);
    if down == 1 { AT_ONCE_BYTES / plane } else { 1 }
}

impl PoolKernel for Flat {
    fn parts(&self, planes: usize, wanted: usize) -> (usize, usize) {
        (few_parts(&self.axes[1], planes, wanted), 1)
    }

    fn run(&self, part: &PartOf<'_>, (x, y, _): Operands<'_>, scratch: &mut ThreadMemory) -> Result<(), ExecuteError> {
        with_element!(part.plan.dtype(), T => self.part::<
            <T as LaneElement>::Own,
            <T as LaneElement>::Lossless,
            <T as LaneElement>::NanWins,
        >(part, cast_slice(x), cast_slice_mut(y), scratch))
    }
}

impl Flat {
    /// Whether rows of X are read in place.
    fn reads<C: Code>(&self) -> bool {
        C::KEEPS_BITS && self.inverted == 0 && !self.padded
    }

    fn along(&self) -> &Axis {
        &self.axes[self.down + 1]
    }

    /// `C` are the usual lanes, `S` the lanes for bands with lossy elements, and `N` the lanes for bands with NaN where
    /// NaN wins.
    fn part<C: Code, S: Code<Element = C::Element>, N: Code<Element = C::Element>>(
        &self,
        part: &PartOf<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        let ranges = part.ranges(&self.axes);
        let (outer, rows) = (&ranges[..self.down], ranges[self.down].clone());
        let count = outer.iter().map(Range::len).product::<usize>();
        for (strip, first) in
            self.strips.iter().flat_map(|strip| rows.clone().step_by(self.rows).map(move |row| (strip, row)))
        {
            let of_band = first..rows.end.min(first + self.rows);
            let mut band = Band::new(&self.lanes, self.inner, strip, of_band);
            if self.stride > 1 {
                band.width = band.columns;
            }
            if band.rows.len() == rows.len() {
                let at_once = planes_at_once(&self.axes, self.down, size_of::<C::Element>());
                band.planes = at_once.clamp(1, count.max(1));
            }
            if band.planes > 1 {
                // Rows that no window contains are reduced too, so that the rows of the next plane follow.
                band.x_rows = 0..self.lanes[0].input;
            }
            let mut memory = self.memory::<C, S>(&band, scratch)?;
            let mut at: Vec<usize> = outer.iter().map(|range| range.start).collect();
            let mut plane = 0;
            loop {
                let row = plane * rows.len() + first - rows.start;
                let place = (row * self.outputs + strip.outputs.start) * self.inner;
                let job = BandJob { own: self, part, band: &band, x };
                job.run::<C, S, N>(self.planes(&at), &mut y[place..], &mut memory);
                // Only the first axis counts groups of several planes.
                plane += band.planes;
                at[0] += band.planes - 1;
                band.planes = band.planes.min(count - plane);
                if advance(&mut at, &|axis| outer[axis].clone()).is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn memory<'a, C: Code, S: Code>(
        &self,
        band: &Band<'_>,
        scratch: &'a mut ThreadMemory,
    ) -> Result<BandBuffers<'a>, ExecuteError> {
        let lane = size_of::<S::Lane>().max(size_of::<C::Lane>());
        let words = |rows: usize, columns: usize| words_of::<u8>(rows * columns * self.inner * lane);
        let reduced = words(band.all_x_rows(), band.strip.columns.len());
        let outputs = words(band.all_rows(), band.strip.columns.len());
        // Elements that have the bits of their lanes are written in place, and read in place if nothing is inverted or
        // padded.
        let loaded = if self.reads::<C>() { 0 } else { words(band.all_x_rows(), band.strip.x.len()) };
        let best = if C::KEEPS_BITS { 0 } else { outputs };
        let steps = if self.padded { loaded } else { 0 };
        let kept = if self.planes > 1 { self.planes } else { 0 };
        let dense = if self.stride > 1 { outputs } else { 0 };
        let mut rest = scratch.elements::<u64>(loaded + reduced + best + dense + kept * outputs + 2 * steps)?;
        Ok(BandBuffers {
            loaded: allocate(&mut rest, loaded),
            reduced: allocate(&mut rest, reduced),
            best: allocate(&mut rest, best),
            dense: allocate(&mut rest, dense),
            planes: (0..kept).map(|_| allocate(&mut rest, outputs)).collect(),
            steps: [steps; 2].map(|steps| allocate(&mut rest, steps)),
            kept: vec![None; kept],
        })
    }

    /// The planes of X that windows at a position of the outer axes contain, in the order of their taps.
    fn planes(&self, at: &[usize]) -> WindowPlanes {
        let mut planes = WindowPlanes { own: [0; MOST_KEPT], count: 1 };
        for (axis, &output) in self.axes.iter().zip(at) {
            let before = planes;
            planes.count = 0;
            for plane in before.all() {
                for tap in axis.taps_inside(output) {
                    planes.own[planes.count] = plane + position(axis, output, tap) * axis.x_stride;
                    planes.count += 1;
                }
            }
        }
        planes
    }
}
