//! Pools of small planes and of short rows: the elements of some planes are interleaved, and what they are then is an image whose
//! channels lie together. Vectors are full there, whatever the windows, their strides and borders are.
//!
//! ```text
//! X        a0 a1 a2 a3 ..   b0 b1 b2 b3 ..   c0 c1 c2 c3 ..     planes
//! scratch  a0 b0 c0   a1 b1 c1   a2 b2 c2   a3 b3 c3   ..      positions with a lane for each plane
//!          the kernel that is best for as many channels
//! scratch  A0 B0 C0   A1 B1 C1   ..
//! Y        A0 A1 ..   B0 B1 ..   C0 C1 ..
//! ```
//!
//! Leading axes of which each position has a window of its own, as the height has with windows of 1x20, are counted among the
//! planes. Indices are computed as those within a plane, with 32 bits.
//!
//! Elements are moved, and nothing else is done to them here: what is computed, and why it is exact, is said by the kernel that the
//! planes are handed to.

use bytemuck::{cast_slice, cast_slice_mut};

use super::axes::MOST_INDEX;
use super::choose::{CpuKernel, PoolKernel};
use super::parts::{Context, Part};
use super::pool::compute;
use super::scratch::{Scratch, aligned_words_of, take, take_aligned, words_of};
use super::transpose::{BEHIND, Planes, interleave, separate};
use super::view::{EmptyBase, View, ViewAxis};
use crate::element::Index;
use crate::error::{ExecuteError, PlanError};
use crate::geometry::AxisWindow;
use crate::options::{Layout, NanPolicy};
use crate::plan::PoolPlan;

/// Bytes of neighbouring lanes at least: those of the longest vector. There are lanes for a vector of indices, of 32 bits, too.
const VECTOR_BYTES: usize = 64;
/// The most vectors of neighbouring lanes.
const MOST_VECTORS: usize = 16;
/// The bytes of interleaved planes where there are several vectors of lanes, and at most.
const BLOCK_BYTES: usize = 32 << 10;
const MOST_BYTES: usize = 256 << 10;
/// The fewest blocks where there are several vectors of lanes: the last one may have lanes without a plane.
const FEWEST_BLOCKS: usize = 8;
/// Columns of a window that are many, and elements of a plane.
const WIDE: u64 = 16;
const LARGE: usize = 400;
/// Windows to which an element belongs that are many.
const SHARED: u64 = 4;

/// A pool of small planes.
#[derive(Debug)]
pub(crate) struct Interleaved {
    /// Interleaved planes as channels of an image, and how they are computed.
    view: View,
    kernel: PoolKernel,
    /// The leading axes that are counted among the planes: how many positions they have, and what each adds to an index.
    folded: Vec<(usize, i64)>,
}

impl Interleaved {
    /// The reason why not, for plans that it does not compute.
    pub fn new(plan: &PoolPlan, view: &View) -> Result<Interleaved, &'static str> {
        if view.inner != 1 {
            return Err("its channels are interleaved already");
        }
        if plan.ignores_nan() || plan.has_empty_windows() {
            return Err("windows are empty, or do not begin with their first elements");
        }
        if plan.indices.as_ref().is_some_and(|indices| indices.space.layout != plan.layout()) && plan.channels > 1 {
            return Err("its indices have another layout");
        }
        let (folded, axes) = folded(plan, view);
        let folded: Vec<_> = folded.iter().map(|axis| (axis.output, axis.index_stride)).collect();
        let elements = |of: fn(&ViewAxis) -> usize| axes.iter().map(of).fold(1, usize::saturating_mul);
        let (input, output) = (elements(|axis| axis.input), elements(|axis| axis.output));
        let bytes = plan.dtype().bytes();
        let of_indices = if plan.indices.is_some() { output.saturating_mul(size_of::<u32>()) } else { 0 };
        let of_lane = input.saturating_add(output).saturating_mul(bytes).saturating_add(of_indices).max(1);
        let vector = VECTOR_BYTES / bytes.min(size_of::<u32>());
        if of_lane.saturating_mul(vector) > MOST_BYTES {
            return Err("its planes are too large");
        }
        let planes = folded.iter().fold(view.outer, |planes, (extent, _)| planes.saturating_mul(*extent));
        let vectors = (BLOCK_BYTES / (of_lane * vector)).min(planes / vector / FEWEST_BLOCKS).clamp(1, MOST_VECTORS);
        let span = axes.iter().fold(0i64, |span, axis| {
            span.saturating_add(axis.index_stride.saturating_abs().saturating_mul(axis.input as i64))
        });
        let unit_base = view.unit_base.wrapping_sub(view.index_base);
        if span > MOST_INDEX || unit_base.saturating_abs() > MOST_INDEX {
            return Err("its indices are too far apart");
        }
        let lanes = vectors * vector;
        let axes = axes.iter().map(|axis| ViewAxis { x_stride: axis.x_stride * lanes, ..*axis }).collect();
        let view = View {
            outer: 1,
            channels: lanes,
            layout: Layout::Nhwc,
            axes,
            inner: lanes,
            index_base: 0,
            index_n: 0,
            index_c: 0,
            unit_base,
            empty_index: EmptyBase::Constant(-1),
        };
        let kernel = PoolKernel::choose(plan, &view, None).map_err(|_: PlanError| "no kernel computes it")?;
        Ok(Interleaved { view, kernel, folded })
    }

    /// Whether this was measured to take less time than another kernel that computes the plan.
    ///
    /// That one reads X where it lies, so that the fewer outputs there are in a row, the less of its vectors it uses, and windows
    /// at the borders of rows take more of its time. What interleaving takes does not depend on the windows.
    pub fn is_best(plan: &PoolPlan, view: &View, other: CpuKernel) -> bool {
        let (folded, axes) = folded(plan, view);
        let Some(last) = axes.last() else { return false };
        let planes = folded.iter().fold(view.outer, |planes, axis| planes.saturating_mul(axis.output));
        if planes < VECTOR_BYTES / plan.dtype().bytes() {
            return false;
        }
        let (taps, apart) =
            (view.most_taps(), last.output > 1 && matches!(last.window, AxisWindow::Strided { stride: 2.., .. }));
        let (single, indices) = (axes.len() == 1, plan.indices.is_some());
        let shared = view.windows_of_element();
        // Columns reduce wide windows of large planes in whole vectors.
        let width = last.window.most_taps(last.input, last.output);
        let wide = width >= WIDE && axes.iter().map(|axis| axis.input).fold(1, usize::saturating_mul) >= LARGE;
        const ANY: usize = usize::MAX;
        // The most outputs of a row, for elements of 1, 2, 4 and 8 bytes.
        let most_outputs = match (other, apart, taps) {
            (CpuKernel::Separable | CpuKernel::Columns, _, 1) => [4, 4, 4, 4],
            (CpuKernel::Separable, ..) if single => [12, 20, 32, 24],
            (CpuKernel::Separable, ..) if shared >= SHARED && indices => [40, 12, 12, 8],
            (CpuKernel::Separable, ..) if shared >= SHARED => [40, 15, 15, 8],
            (CpuKernel::Columns, ..) if wide => [0, 0, 0, 0],
            (CpuKernel::Separable | CpuKernel::Columns, ..) => [ANY, ANY, ANY, 16],
            (CpuKernel::Direct, _, 2..) if single && indices => [16, 15, 0, 0],
            (CpuKernel::Direct, ..) if single => [0, 0, 0, 0],
            (CpuKernel::Direct, false, 1) => [2, 2, 2, 2],
            (CpuKernel::Direct, false, 2..=3) if !indices => [1, 8, 12, 5],
            (CpuKernel::Direct, false, 2..=3) => [16, 8, 7, 5],
            (CpuKernel::Direct, false, _) => [16, 12, 12, 10],
            (CpuKernel::Direct, true, 1) => [12, 8, 6, 2],
            (CpuKernel::Direct, true, 2..=3) if !indices => [5, 7, 10, 2],
            (CpuKernel::Direct, true, 2..=3) => [20, 16, 4, 3],
            (CpuKernel::Direct, true, 4..=9) => [20, 20, 8, 5],
            (CpuKernel::Direct, true, _) => [12, 8, 10, 4],
            (CpuKernel::Flat, false, 1..=3) => [0, 4, 14, 0],
            (CpuKernel::Flat, false, 4..=9) => [4, 14, 16, 0],
            (CpuKernel::Flat, false, _) => [20, 28, 20, 16],
            (CpuKernel::Flat, true, 1..=3) => [0, 12, 8, 6],
            (CpuKernel::Flat, true, 4..=9) => [3, 24, 6, 3],
            (CpuKernel::Flat, true, _) => [4, 16, 6, 0],
            _ => [0, 0, 0, 0],
        };
        let of_bytes = plan.dtype().bytes().ilog2() as usize;
        last.output <= most_outputs[of_bytes]
    }

    /// As many parts as are wanted, or fewer so that each has a whole block of planes at least.
    pub fn wanted(&self, outer: usize, wanted: usize) -> usize {
        let folded: usize = self.folded.iter().map(|(extent, _)| extent).product();
        let of_block = self.view.inner.div_ceil(folded.max(1));
        let of_part = outer.div_ceil(wanted.max(1)).div_ceil(of_block).saturating_mul(of_block);
        outer.div_ceil(of_part.max(1))
    }

    /// Computes a part of Y, and of Indices in the order of Y.
    pub fn run<I: Index>(
        &self,
        (plan, view, context, part): (&PoolPlan, &View, &Context<'_>, &Part),
        x: &[u8],
        y: &mut [u8],
        indices: Option<&mut [I]>,
        scratch: &mut Scratch,
    ) -> Result<(), ExecuteError> {
        let job = Job { own: self, plan, view, context, part };
        let folded = self.folded.iter().map(|(extent, _)| extent).product();
        let mut write = indices.map(|indices| {
            move |within: &[i32], plane: usize, first: usize, place: usize| {
                for (number, within) in within.chunks_exact(plane).enumerate() {
                    let base = job.index_of_plane(folded, first + number);
                    let indices = &mut indices[place + number * plane..][..plane];
                    for (index, &within) in indices.iter_mut().zip(within) {
                        *index = I::from_i64(base.wrapping_add(i64::from(within)));
                    }
                }
            }
        });
        job.run(x, y, write.as_mut().map(|write| write as &mut WriteIndices<'_>), scratch)
    }
}

/// Takes the indices within some planes, how many each of them has, the number of the first one, and its place in Indices.
type WriteIndices<'a> = dyn FnMut(&[i32], usize, usize, usize) + 'a;

/// The leading axes that are counted among the planes, and the others.
fn folded<'a>(plan: &PoolPlan, view: &'a View) -> (&'a [ViewAxis], &'a [ViewAxis]) {
    let alone = |axis: &&ViewAxis| {
        let AxisWindow::Strided { kernel: 1, stride: 1, pad_begin: 0, .. } = axis.window else { return false };
        axis.input == axis.output
    };
    // The index of a seed is that of its plane.
    let seeded = plan.nan_policy == NanPolicy::SeedLowest && plan.indices.is_some();
    let most = if seeded { 0 } else { view.axes.len() - 1 };
    view.axes.split_at(view.axes[..most].iter().take_while(alone).count())
}

/// A part of a pool's outputs.
#[derive(Clone, Copy)]
struct Job<'a> {
    own: &'a Interleaved,
    plan: &'a PoolPlan,
    /// That of the plan.
    view: &'a View,
    context: &'a Context<'a>,
    part: &'a Part,
}

impl Job<'_> {
    fn run(
        &self,
        x: &[u8],
        y: &mut [u8],
        mut indices: Option<&mut WriteIndices<'_>>,
        scratch: &mut Scratch,
    ) -> Result<(), ExecuteError> {
        let (view, simd) = (&self.own.view, self.context.simd);
        let Part { outer, rows } = self.part;
        // A part that has not all rows has a single plane.
        let folded: usize = self.own.folded.iter().map(|(extent, _)| extent).product();
        let (planes, rows) = match self.own.folded.first() {
            None => (outer.clone(), rows.clone()),
            Some((extent, _)) => {
                let of_row = folded / extent;
                let first = outer.start * folded + rows.start * of_row;
                (first..(outer.end - 1) * folded + rows.end * of_row, 0..view.axes[0].output)
            }
        };
        let lanes = view.inner;
        let (input, output) = (view.plane() / lanes, rows.len() * view.row() / lanes);
        let bytes = self.plan.dtype().bytes();
        let (of_x, of_y) = (input * lanes * bytes, output * lanes * bytes);
        let of_indices = if indices.is_some() { output * lanes } else { 0 };
        self.context.scratch.with(|own| {
            let words = words_of::<u8>(of_x + BEHIND * bytes)
                + aligned_words_of::<u8>(of_x)
                + aligned_words_of::<u8>(of_y)
                + 2 * aligned_words_of::<i32>(of_indices);
            let mut words = own.elements::<u64>(words)?;
            let planes_of_x = take::<u8>(&mut words, of_x + BEHIND * bytes);
            let interleaved_x = take_aligned::<u8>(&mut words, of_x);
            let interleaved_y = take_aligned::<u8>(&mut words, of_y);
            let interleaved_indices = take_aligned::<i32>(&mut words, of_indices);
            let planes_of_indices = take_aligned::<i32>(&mut words, of_indices);
            let part = Part { outer: 0..1, rows };
            for first in planes.clone().step_by(lanes) {
                let count = lanes.min(planes.end - first);
                let (of_x, of_y) = (Planes { count, plane: input, lanes }, Planes { count, plane: output, lanes });
                // A processor reads ahead in memory that is read from end to end, and not in planes that are read side by side.
                let length = count * input * bytes;
                planes_of_x[..length].copy_from_slice(&x[first * input * bytes..][..length]);
                interleave(simd, bytes, of_x, planes_of_x, interleaved_x);
                let of_indices = indices.is_some().then_some(&mut *interleaved_indices);
                let (plan, kernel) = (self.plan, &self.own.kernel);
                compute(kernel, view, (plan, self.context, &part), interleaved_x, interleaved_y, of_indices, scratch)?;
                let place = (first - planes.start) * output;
                separate(simd, bytes, of_y, interleaved_y, &mut y[place * bytes..]);
                if let Some(write) = &mut indices {
                    let (from, to) = (cast_slice(interleaved_indices), cast_slice_mut(planes_of_indices));
                    separate(simd, size_of::<i32>(), of_y, from, to);
                    write(&planes_of_indices[..count * output], output, first, place);
                }
            }
            Ok(())
        })
    }

    /// What is added to indices within a plane.
    #[inline]
    fn index_of_plane(&self, folded: usize, plane: usize) -> i64 {
        let mut index = self.view.index_base.wrapping_add(self.view.index_of_plane(plane / folded));
        let mut position = plane % folded;
        for (extent, stride) in self.own.folded.iter().rev() {
            index = index.wrapping_add(((position % extent) as i64).wrapping_mul(*stride));
            position /= extent;
        }
        index
    }
}
