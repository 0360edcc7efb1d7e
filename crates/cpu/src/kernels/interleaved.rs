//! Pools of small planes and of short rows: interleaves the elements of several planes, which turns them into an image
//! whose channels lie innermost. Its vectors are full for all windows, strides and borders.
//!
//! ```text
//! X        a0 a1 a2 a3 ..   b0 b1 b2 b3 ..   c0 c1 c2 c3 ..     planes
//! scratch  a0 b0 c0   a1 b1 c1   a2 b2 c2   a3 b3 c3   ..      positions with a lane for each plane
//!          the kernel that is best for as many channels
//! scratch  A0 B0 C0   A1 B1 C1   ..
//! Y        A0 A1 ..   B0 B1 ..   C0 C1 ..
//! ```
//!
//! Leading axes with one window per position, such as the height with windows of 1x20, are counted as planes. Indices
//! are computed within a plane, with 32 bits.
//!
//! This kernel only rearranges elements. The kernel that it calls computes the pool; its documentation says why the
//! result is exact.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::EmptyBase;
use wgpu_pooling_plan::{ExecuteError, Index, Layout, PoolPlan};

use super::axes::MOST_INDEX;
use super::general::GeneralPool;
use super::indices::{IndicesMut, with_slice};
use super::kernel::{Offer, OfferedPool, Operands, PoolKernel};
use super::parts::{Context, OutputPart, PartOf};
use super::scratch::{ThreadMemory, aligned_words_of, allocate, allocate_aligned, words_of};
use super::transpose::{BEHIND, InterleavedPlanes, interleave, separate};
use super::tuning::interleaved::{
    BLOCK_BYTES, BYTE, FEWEST_BLOCKS, LANE_BYTES, MOST_BYTES, MOST_VECTORS, MOVED, OUTPUT, POOLED,
};
use super::view::{View, ViewAxis};

/// A pool of small planes.
#[derive(Debug)]
pub(crate) struct Interleaved {
    sizes: InterleavedSizes,
    kernel: Box<dyn PoolKernel>,
}

/// How planes are interleaved.
#[derive(Debug)]
struct InterleavedSizes {
    /// The interleaved planes of a block as the channels of an image.
    view: View,
    /// The leading axes that are counted as planes: the number of positions, and the amount that each position adds to
    /// an index.
    folded: Vec<(usize, i64)>,
    /// The elements of a plane of X and of Y.
    input: usize,
    output: usize,
}

impl InterleavedSizes {
    /// `Err` says why the kernel does not apply.
    fn new(pool: &OfferedPool<'_>) -> Result<InterleavedSizes, &'static str> {
        let (plan, view) = (pool.plan, pool.view);
        if view.inner != 1 {
            return Err("its channels are interleaved already");
        }
        if plan.has_empty_windows() {
            return Err("windows are empty");
        }
        if pool.permutes() {
            return Err("its indices have another layout");
        }
        let (folded, axes) = folded(plan, view);
        let folded: Vec<_> = folded.iter().map(|axis| (axis.output, axis.index_stride)).collect();
        let elements = |of: fn(&ViewAxis) -> usize| axes.iter().map(of).fold(1, usize::saturating_mul);
        let (input, output) = (elements(|axis| axis.input), elements(|axis| axis.output));
        let bytes = plan.dtype().bytes();
        let of_indices = if plan.indices.is_some() { output.saturating_mul(size_of::<u32>()) } else { 0 };
        let of_lane = input.saturating_add(output).saturating_mul(bytes).saturating_add(of_indices).max(1);
        let vector = LANE_BYTES / bytes.min(size_of::<u32>());
        if of_lane.saturating_mul(vector) > MOST_BYTES {
            return Err("its planes are too large");
        }
        let planes = planes(view.outer, &folded);
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
        Ok(InterleavedSizes { view, folded, input, output })
    }

    /// The time to interleave blocks of planes, to pool them by the fastest kernel, and to separate their outputs.
    /// `of_block` is the time that the kernel takes for a block.
    fn cost(&self, pool: &OfferedPool<'_>, of_block: f64) -> f64 {
        let lanes = self.view.inner;
        let blocks = planes(pool.view.outer, &self.folded).div_ceil(lanes) as f64;
        let elements = |of_plane: usize| blocks * (of_plane * lanes) as f64;
        pool.cost(&[
            (BYTE, pool.bytes()),
            (MOVED, pool.vectors(elements(self.input + self.output), pool.plan.dtype().bytes())),
            (OUTPUT, elements(self.output)),
            (POOLED, blocks * of_block),
        ])
    }

    /// The number of interleaved planes in each plane of X.
    fn of_plane(&self) -> usize {
        planes(1, &self.folded)
    }
}

/// The number of planes, those along leading axes included.
fn planes(outer: usize, folded: &[(usize, i64)]) -> usize {
    folded.iter().fold(outer, |planes, (extent, _)| planes.saturating_mul(*extent))
}

/// `Err` says why the kernel does not apply.
pub(crate) fn offer<'a>(pool: &'a OfferedPool<'a>) -> Result<Offer<'a>, &'static str> {
    let sizes = InterleavedSizes::new(pool)?;
    let (kernel, cost, mirrors) = {
        let of_block = pool.of_view(&sizes.view);
        let (kernel, offer) = of_block.fastest().ok_or("no kernel computes its interleaved planes")?;
        (kernel, sizes.cost(pool, offer.cost), offer.mirrors)
    };
    let layout = move || {
        let kernel = pool.of_view(&sizes.view).offer_of(kernel).map(|offer| (offer.layout)());
        Interleaved { kernel: kernel.unwrap_or_else(|_| Box::new(GeneralPool)), sizes }
    };
    Ok(Offer { mirrors, ..Offer::new(cost, layout) })
}

impl PoolKernel for Interleaved {
    fn run(
        &self,
        part: &PartOf<'_>,
        (x, y, mut indices): Operands<'_>,
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        let PartOf { plan, view, context, part } = *part;
        InterleavedPart { own: self, plan, view, context, part }.run(x, y, indices.as_mut(), scratch)
    }

    /// At most `wanted` parts, such that each has a whole block of planes.
    fn parts(&self, outer: usize, wanted: usize) -> (usize, usize) {
        let (lanes, of_plane) = (self.sizes.view.inner, self.sizes.of_plane().max(1));
        let most = outer.saturating_mul(of_plane) / lanes;
        (wanted.min(most).max(1), lanes.div_ceil(of_plane))
    }
}

/// The leading axes that are counted as planes, and the other axes.
fn folded<'a>(plan: &PoolPlan, view: &'a View) -> (&'a [ViewAxis], &'a [ViewAxis]) {
    // The index of a seed names the first element of its whole plane.
    let seeded = plan.starts_from_value() && plan.indices.is_some();
    let most = if seeded { 0 } else { view.axes.len() - 1 };
    view.axes.split_at(view.axes[..most].iter().take_while(|axis| axis.is_identity()).count())
}

/// The computation of a part of a pool's outputs.
#[derive(Clone, Copy)]
struct InterleavedPart<'a> {
    own: &'a Interleaved,
    plan: &'a PoolPlan,
    /// The view of the pool itself.
    view: &'a View,
    context: &'a Context<'a>,
    part: &'a OutputPart,
}

impl InterleavedPart<'_> {
    fn run(
        &self,
        x: &[u8],
        y: &mut [u8],
        mut indices: Option<&mut IndicesMut<'_>>,
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        let InterleavedSizes { view, folded: of_plane, .. } = &self.own.sizes;
        let simd = self.context.simd;
        let OutputPart { outer, rows } = self.part;
        // A part without all rows has a single plane.
        let folded = self.own.sizes.of_plane();
        let (planes, rows) = match of_plane.first() {
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
            let planes_of_x = allocate::<u8>(&mut words, of_x + BEHIND * bytes);
            let interleaved_x = allocate_aligned::<u8>(&mut words, of_x);
            let interleaved_y = allocate_aligned::<u8>(&mut words, of_y);
            let interleaved_indices = allocate_aligned::<i32>(&mut words, of_indices);
            let planes_of_indices = allocate_aligned::<i32>(&mut words, of_indices);
            let part = OutputPart { outer: 0..1, rows };
            let of_block = PartOf { plan: self.plan, view, part: &part, context: self.context };
            for first in planes.clone().step_by(lanes) {
                let count = lanes.min(planes.end - first);
                let of_x = InterleavedPlanes { count, plane: input, lanes };
                let of_y = InterleavedPlanes { plane: output, ..of_x };
                // A processor prefetches memory that is read in order, but not planes that are read side by side.
                // Copying the next planes between these steps is not done: it took 0.91 to 1.07 of the time in f16, 1.0
                // to 1.2 in f32.
                let length = count * input * bytes;
                planes_of_x[..length].copy_from_slice(&x[first * input * bytes..][..length]);
                interleave(simd, bytes, of_x, planes_of_x, interleaved_x);
                let of_indices = indices.is_some().then_some(IndicesMut::I32(&mut *interleaved_indices));
                self.own.kernel.run(&of_block, (interleaved_x, interleaved_y, of_indices), scratch)?;
                let place = (first - planes.start) * output;
                separate(simd, bytes, of_y, interleaved_y, &mut y[place * bytes..]);
                if let Some(indices) = &mut indices {
                    let (from, to) = (cast_slice(interleaved_indices), cast_slice_mut(planes_of_indices));
                    separate(simd, size_of::<i32>(), of_y, from, to);
                    let within = &planes_of_indices[..count * output];
                    let to = indices.part(place..place + count * output);
                    with_slice!(IndicesMut, to, to => self.write(within, output, first, to));
                }
            }
            Ok(())
        })
    }

    /// Writes the indices of planes, given the indices within planes, the outputs of a plane and the number of the
    /// first plane.
    fn write<I: Index>(&self, within: &[i32], output: usize, first: usize, to: &mut [I]) {
        for (number, (within, to)) in within.chunks_exact(output).zip(to.chunks_exact_mut(output)).enumerate() {
            let base = self.index_of_plane(first + number);
            for (index, &within) in to.iter_mut().zip(within) {
                *index = I::from_i64(base.wrapping_add(i64::from(within)));
            }
        }
    }

    /// The amount that a plane adds to the indices within it.
    #[inline]
    fn index_of_plane(&self, plane: usize) -> i64 {
        let folded = self.own.sizes.of_plane();
        let mut index = self.view.index_base.wrapping_add(self.view.index_of_plane(plane / folded));
        let mut position = plane % folded;
        for (extent, stride) in self.own.sizes.folded.iter().rev() {
            index = index.wrapping_add(((position % extent) as i64).wrapping_mul(*stride));
            position /= extent;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu_pooling_plan::DType;
    use wgpu_pooling_plan::MaxPool;

    #[test]
    fn parts_have_whole_blocks_of_planes_and_single_planes_are_shared() {
        let parts = |kernel: [i64; 2], shape: [usize; 4]| {
            let plan = MaxPool::new(kernel).strides(kernel).plan(&shape, DType::F32, None).unwrap();
            let plan = plan.pool().unwrap();
            let view = View::new(plan).unwrap();
            let sizes = InterleavedSizes::new(&OfferedPool::new(plan, &view, &[])).unwrap();
            Interleaved { sizes, kernel: Box::new(GeneralPool) }.parts(shape[0] * shape[1], 8)
        };
        // Each row is a plane of its own.
        assert_eq!(parts([1, 20], [1, 1, 20_000, 20]), (8, 1));
        assert_eq!(parts([1, 20], [1, 3, 20_000, 20]), (8, 1));
        // Fewer planes than lanes form one part.
        assert_eq!(parts([2, 2], [1, 3, 8, 8]), (1, 16));
        assert_eq!(parts([2, 2], [1, 100, 8, 8]), (6, 16));
    }
}
