//! A pool in blocks: which blocks there are, and what becomes of each.

use std::sync::{Arc, Mutex, PoisonError};

use super::axes::{Axis, Step, axes, block, steps};
use super::layout::{BlockLayout, sums};
use crate::cpu::kernels::view::View;
use crate::options::Layout;
use crate::plan::PoolPlan;

/// A pool of strided windows, with all that does not depend on data.
#[derive(Debug)]
pub(crate) struct Separable {
    pub axes: Vec<Axis>,
    pub steps: Vec<Step>,
    /// The extents of a block.
    pub block: Vec<usize>,
    /// What each tap of a window adds to the index, for lanes that have their taps in them.
    pub tap_offsets: Vec<i32>,
    pub has_empty_windows: bool,
    /// Layouts of blocks that were computed.
    layouts: Mutex<Vec<Arc<BlockLayout>>>,
}

/// The largest distance between two indices of a plane that 32 bits are trusted with.
const MOST_INDEX: i64 = 1 << 30;

impl Separable {
    /// The reason why not, for plans that it does not compute.
    pub fn new(plan: &PoolPlan, view: &View) -> Result<Separable, &'static str> {
        if plan.ignores_nan() {
            return Err("it is a part of a window");
        }
        let axes = axes(view)?;
        if axes[1..].iter().any(|axis| axis.input > 1 << 31) {
            return Err("an axis is too long");
        }
        let wide = plan.dtype().bytes() == 8;
        let span = axes[1..].iter().fold(0i64, |span, axis| {
            let positions = axis.input as i64 + axis.pad.abs() + axis.reach() as i64;
            span.saturating_add(positions.saturating_mul(axis.index_stride.saturating_abs()))
        });
        if !wide && span > MOST_INDEX {
            return Err("its indices are too far apart");
        }
        let steps = steps(&axes);
        let packed = plan.dtype().bytes() <= 2 && plan.indices.is_some();
        // The planes of several batch items need not have indices that are evenly apart.
        let evenly = plan.indices.is_none()
            || view.layout == Layout::Nhwc
            || view.index_n == view.index_c.wrapping_mul(view.channels as i64);
        let block = block(&axes, lane_bytes(plan), if evenly { usize::MAX } else { 1 });
        let mut tap_offsets = if packed { index_of_taps(&axes) } else { Vec::new() };
        tap_offsets.resize(tap_offsets.len().next_power_of_two(), 0);
        Ok(Separable {
            axes,
            steps,
            block,
            tap_offsets,
            has_empty_windows: plan.has_empty_windows(),
            layouts: Mutex::default(),
        })
    }

    /// The layout of blocks with these outputs along each axis.
    pub fn layout(&self, outputs: &[usize]) -> Arc<BlockLayout> {
        let mut layouts = self.layouts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) = layouts.iter().find(|layout| layout.outputs == outputs) {
            return Arc::clone(layout);
        }
        let layout = Arc::new(BlockLayout::new(&self.axes, &self.steps[0], outputs));
        layouts.push(Arc::clone(&layout));
        layout
    }
}

/// The bytes of a lane.
fn lane_bytes(plan: &PoolPlan) -> usize {
    match (plan.dtype().bytes(), plan.indices.is_some()) {
        (bytes, false) => bytes,
        (bytes @ (1 | 2), true) => bytes.max(4),
        (bytes, true) => 2 * bytes,
    }
}

/// What each tap of a window adds to the index of the first one. A window has at most as many taps as a packed lane tells
/// apart, and their indices fit 32 bits.
fn index_of_taps(axes: &[Axis]) -> Vec<i32> {
    let along = |axis: &Axis| (0..axis.kernel).map(|tap| (tap * axis.dilation) as i64 * axis.index_stride).collect();
    sums(&axes.iter().map(along).collect::<Vec<_>>()).into_iter().map(|offset| offset as i32).collect()
}
