//! Pools without indices, with small windows and small strides along the rows: rows that follow each other in memory
//! are reduced as one row, first along themselves and then across rows.
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
#[cfg(test)]
mod tests;

use std::ops::Range;

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{DType, ExecuteError, PoolPlan};

use self::band::{Band, Strip, position};
use self::job::{BandBuffers, BandJob, MOST_KEPT, WindowPlanes};
use super::axes::{Axis, axes};
use super::lane::{
    Code, NanBf16, NanF16, NanF32, NanF64, OfBf16, OfF16, OfF32, OfF64, OfI16, OfI32, OfI64, OfU8, SameI8, SameU16,
    SameU32, SameU64, WideBf16, WideF16, with_code,
};
use super::parts::PartOf;
use super::scratch::{Scratch, allocate, words_of};
use super::view::View;

/// The most taps of a window along a row, and across the rows.
const MOST_TAPS: usize = 8;
/// The largest stride along a row: windows at positions between two outputs are computed too, without use.
const MOST_STRIDE: usize = 4;
/// The most columns: each one costs time when a pool is prepared.
const MOST_COLUMNS: usize = 1 << 20;
/// The most rows that a window spans.
const MOST_SPAN: usize = 32;
/// About the bytes of a band's lanes.
const BAND_BYTES: usize = 256 << 10;
/// About the bytes of a row of lanes if rows of outputs are longer. A row is cut only if it is more than twice as long.
const ROW_BYTES: usize = 16 << 10;
/// The most bytes of a band's lanes where [`ROWS_OF_SHARED`] needs more than [`BAND_BYTES`]; twice as many in rows that
/// are not cut.
const MOST_BYTES: usize = 1 << 20;
/// The reduced rows at the end of a band are reduced again for the next band. A band has at least this many rows for
/// each of them.
const ROWS_OF_SHARED: usize = 3;
/// About the bytes of small planes that are computed together.
const AT_ONCE_BYTES: usize = 16 << 10;
/// Where windows contain several planes, planes with fewer bytes make rows too short for this kernel.
const SMALL_PLANE_BYTES: usize = 512;
/// The fewest columns for which joined rows pay off.
const FEW_COLUMNS: usize = 4;
/// The fewest outputs of a row for strides larger than 1, and for windows that are dilated too.
const FEW_STRIDED: usize = 3;
const FEW_DILATED: usize = 8;
/// The fewest neighbouring lanes for which vector loops pay off.
const FEW: usize = 16;

/// A pool with small windows and strides along the rows.
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
    /// The most planes of a window: the product of its extents along the axes between the first one and `down`.
    planes: usize,
    strips: Vec<Strip>,
    /// The most rows of outputs of a band.
    rows: usize,
}

impl Flat {
    /// `Err` says why the kernel does not apply.
    pub fn new(plan: &PoolPlan, view: &View) -> Result<Flat, &'static str> {
        if plan.indices.is_some() || plan.ignores_nan() {
            return Err("it has values alone, of windows that begin with their first elements");
        }
        if plan.has_empty_windows() {
            return Err("windows are empty");
        }
        let mut axes = axes(view)?;
        let spatial = if view.inner == 1 { &axes[..] } else { &axes[..axes.len() - 1] };
        let [_, outer @ .., down, along] = spatial else { return Err("it has a single axis") };
        let (stride, outputs) = (along.stride, along.output);
        if stride > MOST_STRIDE {
            return Err("windows are far apart along the rows");
        }
        // As many columns as X has, if this is enough: then rows of X that follow each other are one row.
        let columns = if along.input > outputs.saturating_sub(1).saturating_mul(stride) {
            along.input
        } else {
            outputs.saturating_mul(stride)
        };
        let along = &if stride == 1 { along.clone() } else { along.dense(columns) };
        let planes = outer.iter().fold(1, |planes: usize, axis| planes.saturating_mul(axis.kernel));
        if along.kernel.max(down.kernel) > MOST_TAPS || planes > MOST_KEPT || down.reach() >= MOST_SPAN {
            return Err("its windows have too many taps");
        }
        if along.input.max(along.output) > MOST_COLUMNS {
            return Err("its rows are too long");
        }
        // The arrays are: rows as lanes, reduced rows, maxima as lanes, maxima at all positions if the stride is larger
        // than 1, and reduced planes. All have the widest lanes of the elements.
        let arrays = 3 + usize::from(stride > 1) + if planes > 1 { planes } else { 0 };
        let lane = plan.dtype().bytes() * if matches!(plan.dtype(), DType::F16 | DType::Bf16) { 2 } else { 1 };
        let of_position = lane.saturating_mul(view.inner).max(1);
        let fewest_rows = (ROWS_OF_SHARED * down.reach()).max(1);
        let at_once = arrays * (fewest_rows + down.reach());
        let columns = (ROW_BYTES / of_position).max(1).min(MOST_BYTES / of_position.saturating_mul(at_once));
        let columns = columns / stride * stride;
        if columns == 0 {
            return Err("it has too many channels");
        }
        let columns = if along.output <= columns * 2 { along.output.max(1) } else { columns };
        let strips = (0..along.output).step_by(columns).map(|first| {
            let columns = first..along.output.min(first + columns);
            Strip::new(along, columns, stride, outputs)
        });
        let strips = strips.filter(|strip| !strip.outputs.is_empty()).collect();
        let rows = (BAND_BYTES / arrays / (of_position * columns)).saturating_sub(down.reach()).max(fewest_rows);
        let (down, dense) = (spatial.len() - 2, along.clone());
        axes[down + 1] = dense;
        Ok(Flat { stride, outputs, inner: view.inner, down, planes, strips, rows, axes })
    }

    /// Whether no other kernel was measured to be faster. A vector holds many elements of 8 and 16 bits, so windows at
    /// the borders of rows, which are computed one by one, can take most of the time. A vector holds few elements of 64
    /// bits, so writing and reading reduced rows costs more than it saves. Windows of a single tap share nothing.
    ///
    /// `direct` says whether the direct kernel is the best of the others.
    pub fn is_best(&self, plan: &PoolPlan, direct: bool) -> bool {
        let (bytes, along) = (plan.dtype().bytes(), self.along());
        let taps = along.kernel * self.axes[self.down].kernel * self.planes;
        match bytes {
            _ if taps == 1 || self.inner == 1 && along.output < FEW_COLUMNS => false,
            _ if self.down > 1 && self.axes[self.down - 1].x_stride.saturating_mul(bytes) < SMALL_PLANE_BYTES => false,
            _ if self.stride > 1 => self.is_best_strided(plan, taps, direct),
            1 | 2 if along.kernel > 5 => false,
            2 if along.kernel == 1 && direct && plan.dtype().is_float() => false,
            1 | 2 => taps > 4 || self.inner == 1 && along.output < 100,
            8 => taps > 9 || along.dilation > 1,
            _ => true,
        }
    }

    /// Like [`Flat::is_best`] for strides along the rows that are larger than 1. Then only some of the computed windows
    /// are outputs, and long rows waste more windows. The direct kernel computes only outputs, but it is slow in short
    /// rows and at their borders.
    fn is_best_strided(&self, plan: &PoolPlan, taps: usize, direct: bool) -> bool {
        let along = self.along();
        let overlap = along.kernel > self.stride;
        let down = &self.axes[self.down];
        // Rows of X between the windows are also reduced without use.
        let shares = along.kernel > 1 && (self.planes == 1 || overlap) && down.stride <= down.reach() + 1;
        if self.inner > 1 || !shares || self.outputs < FEW_STRIDED || along.dilation > 1 && self.outputs < FEW_DILATED {
            return false;
        }
        let most_columns = match (plan.dtype().bytes(), plan.dtype().is_float()) {
            _ if !direct => return self.outputs >= FEW_COLUMNS,
            (1, _) => 128,
            (2, false) => 96,
            (2, true) if overlap => (2 + 3 * taps).min(80),
            (2, true) => 8,
            (4, _) if overlap => 36,
            (4, _) => 8,
            _ => 12,
        };
        // The direct kernel is fast in rows of outputs without borders. Rows of outputs that do not end with the row of
        // windows are copied to Y one by one.
        let has_borders = self.strips.iter().any(|strip| !strip.edges.is_empty());
        let ends_with_outputs = along.output == self.outputs * self.stride;
        along.output <= if has_borders || ends_with_outputs { most_columns } else { most_columns / 2 }
    }

    fn along(&self) -> &Axis {
        &self.axes[self.down + 1]
    }

    /// Computes a part of Y. The slices have the plan's element type.
    pub fn run(&self, part: &PartOf<'_>, x: &[u8], y: &mut [u8], scratch: &mut Scratch) -> Result<(), ExecuteError> {
        macro_rules! lanes {
            ($code:ty, $lossy:ty, $nan_wins:ty) => {
                self.part::<$code, $lossy, $nan_wins>(part, cast_slice(x), cast_slice_mut(y), scratch)
            };
        }
        macro_rules! integers {
            ($code:ty) => {
                lanes!($code, $code, $code)
            };
        }
        match part.plan.dtype() {
            DType::F32 => return lanes!(OfF32, OfF32, NanF32),
            DType::F64 => return lanes!(OfF64, OfF64, NanF64),
            DType::F16 => return lanes!(OfF16, WideF16, NanF16),
            DType::Bf16 => return lanes!(OfBf16, WideBf16, NanBf16),
            _ => {}
        }
        with_code!(part.plan.dtype(), integers:
            I8 => SameI8, U8 => OfU8, I16 => OfI16, U16 => SameU16,
            I32 => OfI32, U32 => SameU32, I64 => OfI64, U64 => SameU64,
        );
        Ok(())
    }

    /// `C` are the usual lanes, `S` the lanes for bands with lossy elements, and `N` the lanes for bands with NaN where
    /// NaN wins.
    fn part<C: Code, S: Code<Element = C::Element>, N: Code<Element = C::Element>>(
        &self,
        part: &PartOf<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        scratch: &mut Scratch,
    ) -> Result<(), ExecuteError> {
        let ranges = part.ranges(&self.axes);
        let (outer, rows) = (&ranges[..self.down], ranges[self.down].clone());
        let count = outer.iter().map(Range::len).product::<usize>();
        for (strip, first) in
            self.strips.iter().flat_map(|strip| rows.clone().step_by(self.rows).map(move |row| (strip, row)))
        {
            let of_band = first..rows.end.min(first + self.rows);
            let mut band = Band::new([&self.axes[self.down], self.along()], self.inner, strip, of_band);
            if self.stride > 1 {
                band.width = band.columns;
            }
            if band.rows.len() == rows.len() {
                band.planes = self.planes_at_once(size_of::<C::Element>()).clamp(1, count.max(1));
            }
            if band.planes > 1 {
                // Rows that no window contains are reduced too, so that the rows of the next plane follow.
                band.x_rows = 0..self.axes[self.down].input;
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
                let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] + 1 < outer[axis].end) else { break };
                at[axis] += 1;
                (axis + 1..at.len()).for_each(|inner| at[inner] = outer[inner].start);
            }
        }
        Ok(())
    }

    /// The number of planes that are computed together if a band has all their rows: several if they are small.
    fn planes_at_once(&self, bytes: usize) -> usize {
        let plane = self.axes[0].x_stride.saturating_mul(bytes).max(1);
        if self.down == 1 { AT_ONCE_BYTES / plane } else { 1 }
    }

    fn memory<'a, C: Code, S: Code>(
        &self,
        band: &Band<'_>,
        scratch: &'a mut Scratch,
    ) -> Result<BandBuffers<'a>, ExecuteError> {
        let lane = size_of::<S::Lane>().max(size_of::<C::Lane>());
        let words = |rows: usize, columns: usize| words_of::<u8>(rows * columns * self.inner * lane);
        let reduced = words(band.all_x_rows(), band.strip.columns.len());
        let outputs = words(band.all_rows(), band.strip.columns.len());
        // Elements that have the bits of their lanes are read and written in place.
        let (loaded, best) = match C::KEEPS_BITS {
            true => (0, 0),
            false => (words(band.all_x_rows(), band.strip.x.len()), outputs),
        };
        let kept = if self.planes > 1 { self.planes } else { 0 };
        let dense = if self.stride > 1 { outputs } else { 0 };
        let mut rest = scratch.elements::<u64>(loaded + reduced + best + dense + kept * outputs)?;
        Ok(BandBuffers {
            loaded: allocate(&mut rest, loaded),
            reduced: allocate(&mut rest, reduced),
            best: allocate(&mut rest, best),
            dense: allocate(&mut rest, dense),
            planes: (0..kept).map(|_| allocate(&mut rest, outputs)).collect(),
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
