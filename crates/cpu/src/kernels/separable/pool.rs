//! A pool that is computed in blocks.

use std::sync::{Arc, Mutex, PoisonError};

use wgpu_pooling_plan::{Layout, PoolPlan};

use super::layout::{BlockLayout, sums};
use super::steps::{Join, block, covers, steps};
use crate::kernels::axes::{Axis, MOST_INDEX, index_span};
use crate::kernels::kernel::OfferedPool;
use crate::kernels::lane::{PACKED_TAPS, Packed};

/// The most layouts that are kept: blocks in the middle and at the ends of up to four axes.
const MOST_LAYOUTS: usize = 16;

/// A pool of strided windows: everything that does not depend on data.
#[derive(Debug)]
pub(crate) struct Separable {
    pub axes: Vec<Axis>,
    /// The number of the innermost spatial axis. It and the channels after it, if there are any, form rows.
    pub inner: usize,
    /// The steps along rows, at least one, and along the other axes.
    pub steps: Vec<Join>,
    pub outer_steps: Vec<Join>,
    /// The extents of a block.
    pub block: Vec<usize>,
    /// The amount that each tap of a window adds to the index, if lanes contain their taps; otherwise it is empty.
    pub tap_offsets: Vec<i32>,
    pub has_empty_windows: bool,
    /// The layouts of the blocks so far.
    layouts: Mutex<Vec<Arc<BlockLayout>>>,
}

/// The sizes that the time of a separable pool depends on.
#[derive(Debug)]
pub(crate) struct SeparableSizes {
    pub axes: Vec<Axis>,
    /// The number of the innermost spatial axis.
    pub inner: usize,
    /// The extents of a block.
    pub block: Vec<usize>,
    pub lane_bytes: usize,
    /// Whether lanes contain their taps.
    packed: bool,
}

impl SeparableSizes {
    /// `Err` says why the kernel does not apply.
    pub fn new(pool: &OfferedPool<'_>) -> Result<SeparableSizes, &'static str> {
        let (plan, view, axes) = (pool.plan, pool.view, pool.axes()?);
        if axes[1..].iter().any(|axis| axis.input > 1 << 31) {
            return Err("an axis is too long");
        }
        if plan.dtype().bytes() != 8 && index_span(axes) > MOST_INDEX {
            return Err("its indices are too far apart");
        }
        // The indices of planes of different batch items may not be evenly spaced, and planes whose indices have
        // another layout are computed one by one.
        let evenly = plan.indices.is_none()
            || view.layout == Layout::Nhwc
            || view.index_n == view.index_c.wrapping_mul(view.channels as i64);
        // The indices of all planes of a block differ by less than 32 bits.
        let index_stride = axes[0].index_stride.unsigned_abs().max(1);
        let evenly = evenly && !pool.permutes();
        let planes = if evenly { (MOST_INDEX as u64 / index_stride).clamp(1, usize::MAX as u64) as usize } else { 1 };
        let taps = axes.iter().fold(1, |taps: usize, axis| taps.saturating_mul(axis.kernel));
        let packed = plan.dtype().bytes() <= 2 && plan.indices.is_some() && taps <= PACKED_TAPS;
        let lane_bytes = lane_bytes(plan, packed);
        let inner = axes.len() - if view.inner == 1 { 1 } else { 2 };
        // Across rows, long windows take less time at all positions, in steps, than tap by tap at outputs alone.
        let in_steps = |axis: &Axis| axis.kernel > (axis.stride * covers(axis.kernel).iter().sum::<usize>()).max(1);
        let spaced = |(number, axis): (usize, &Axis)| match number < inner && axis.stride > 1 && in_steps(axis) {
            true => axis.clone().spaced(1),
            false => axis.clone(),
        };
        let axes: Vec<Axis> = axes.iter().enumerate().map(spaced).collect();
        let block = block(&axes, plan.dtype().bytes(), lane_bytes, planes);
        Ok(SeparableSizes { axes, inner, block, lane_bytes, packed })
    }
}

impl Separable {
    pub fn new(pool: &OfferedPool<'_>, sizes: SeparableSizes) -> Separable {
        let SeparableSizes { axes, inner, block, packed, .. } = sizes;
        let (steps, outer_steps) = steps(&axes, inner).into_iter().partition(|step| step.axis == inner);
        let mut tap_offsets = if packed { index_of_taps(&axes) } else { Vec::new() };
        if packed {
            tap_offsets.resize(tap_offsets.len().next_power_of_two(), 0);
        }
        Separable {
            axes,
            inner,
            steps,
            outer_steps,
            block,
            tap_offsets,
            has_empty_windows: pool.plan.has_empty_windows(),
            layouts: Mutex::default(),
        }
    }

    /// The layout of blocks with these outputs along each axis.
    pub fn layout(&self, outputs: &[usize]) -> Arc<BlockLayout> {
        let mut layouts = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = layouts.iter().find(|layout| layout.outputs == outputs) {
            return Arc::clone(layout);
        }
        let layout = Arc::new(BlockLayout::new(&self.axes, self.inner, self.outer_steps.first(), outputs));
        if layouts.len() == MOST_LAYOUTS {
            layouts.swap_remove(0);
        }
        layouts.push(Arc::clone(&layout));
        layout
    }
}

/// The bytes of a lane.
fn lane_bytes(plan: &PoolPlan, packed: bool) -> usize {
    match (plan.dtype().bytes(), plan.indices.is_some()) {
        (bytes, false) => bytes,
        (_, true) if packed => size_of::<Packed>(),
        // A lane of at least 32 bits, and a position as wide.
        (bytes, true) => 2 * bytes.max(4),
    }
}

/// The amount that each tap of a window adds to the index of the first one. A packed lane can distinguish all taps of a
/// window, and their indices fit in 32 bits.
fn index_of_taps(axes: &[Axis]) -> Vec<i32> {
    let along = |axis: &Axis| {
        (0..axis.kernel).map(|tap| ((tap * axis.dilation) as i64).wrapping_mul(axis.index_stride)).collect()
    };
    let mut offsets = Vec::new();
    sums(&mut offsets, &axes.iter().map(along).collect::<Vec<_>>(), |offset| offset as i32);
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::view::View;
    use wgpu_pooling_plan::{DType, IndexType, MaxPool, Plan};

    /// The extents of a block, unless the kernel does not apply.
    fn block_of(plan: &Plan) -> Option<Vec<usize>> {
        let plan = plan.pool()?;
        let view = View::new(plan).ok()?;
        SeparableSizes::new(&OfferedPool::new(plan, &view, &[])).ok().map(|sizes| sizes.block)
    }

    #[test]
    fn the_planes_of_a_block_have_indices_within_32_bits_of_each_other() {
        // Single elements of planes of 2^26 elements: a block has room for thousands of them.
        let pool = MaxPool::new([1, 1]).strides([8192, 8192]);
        for (channels, extent, most) in [(64, 8192, 16), (64, 8, usize::MAX)] {
            let plan = pool.plan(&[1, channels, extent, extent], DType::F32, Some(IndexType::I64)).unwrap();
            assert_eq!(block_of(&plan).unwrap()[0], channels.min(most), "{extent}");
        }
    }

    #[test]
    fn blocks_of_channels_have_pieces_of_x_that_are_worth_a_cache_line() {
        // A block of the smaller size has room for one channel, and would read each line of X 16 times.
        let pool = MaxPool::new([17, 9, 17]).dilations([1, 1, 2]).layout(Layout::Nhwc);
        let plan = pool.plan(&[1, 29, 9, 174, 66], DType::F32, Some(IndexType::I32)).unwrap();
        let block = block_of(&plan).unwrap();
        assert!(block[4] >= 8, "{block:?}");
    }

    #[test]
    fn indices_beyond_any_memory_are_no_overflow() {
        // No machine has such an X, but its plan can be made and prepared.
        let pool = MaxPool::new([2, 1, 1]).dilations([4096, 1, 1]).pads([4096, 0, 0, 0, 0, 0]);
        let plan = pool.plan(&[1, 1, 2, 1 << 26, 1 << 26], DType::F64, Some(IndexType::I64)).unwrap();
        let plan = plan.pool().unwrap();
        let view = View::new(plan).unwrap();
        let pool = OfferedPool::new(plan, &view, &[]);
        let separable = SeparableSizes::new(&pool).map(|sizes| Separable::new(&pool, sizes));
        assert!(separable.is_ok());
    }
}
