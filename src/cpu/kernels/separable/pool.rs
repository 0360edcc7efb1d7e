//! A pool in blocks: which blocks there are, and what becomes of each.

use bytemuck::{cast_slice, cast_slice_mut};

use std::sync::{Arc, Mutex, PoisonError};

use super::axes::{Axis, Step, axes, block, steps};
use super::finish::Indices;
use super::lane::{OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32, OfU64, PACKED_TAPS};
use super::layout::Layout as BlockLayout;
use super::work::{PartOf, Work};
use crate::cpu::kernels::scratch::Scratch;
use crate::cpu::kernels::view::View;
use crate::element::DType;
use crate::error::ExecuteError;
use crate::options::Layout;
use crate::plan::PoolPlan;

/// A pool of strided windows, with all that does not depend on data.
#[derive(Debug)]
pub(crate) struct Separable {
    pub axes: Vec<Axis>,
    pub steps: Vec<Step>,
    /// The extents of a block.
    pub block: Vec<usize>,
    /// What each tap of a window adds to the index and to the place in X, for lanes that have their taps in them.
    pub tap_offsets: Vec<i32>,
    pub tap_places: Vec<usize>,
    pub has_empty_windows: bool,
    /// Layouts of blocks that were computed.
    layouts: Mutex<Vec<Arc<BlockLayout>>>,
}

/// The element types that have lanes.
const DTYPES: &[DType] = &[
    DType::F32,
    DType::F64,
    DType::I32,
    DType::U32,
    DType::I64,
    DType::U64,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::U16,
    DType::F16,
    DType::Bf16,
];

/// The largest distance between two indices of a plane that 32 bits are trusted with.
const MOST_INDEX: i64 = 1 << 30;

impl Separable {
    /// The reason why not, for plans that it does not compute.
    pub fn new(plan: &PoolPlan, view: &View) -> Result<Separable, &'static str> {
        if !DTYPES.contains(&plan.dtype()) {
            return Err("there are no lanes for its elements");
        }
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
        let taps = axes.iter().fold(1usize, |taps, axis| taps.saturating_mul(axis.kernel));
        let narrow = plan.dtype().bytes() <= 2;
        if narrow && taps > PACKED_TAPS && (plan.indices.is_some() || plan.dtype().is_float()) {
            return Err("its windows have too many elements");
        }
        let packed = narrow && taps <= PACKED_TAPS;
        let [tap_offsets, tap_places] = [|axis: &Axis| axis.index_stride, |axis: &Axis| axis.x_stride as i64]
            .map(|stride: fn(&Axis) -> i64| if packed { along_taps(&axes, stride) } else { Vec::new() });
        // The planes of several batch items need not have indices that are evenly apart.
        let evenly = plan.indices.is_none()
            || view.layout == Layout::Nhwc
            || view.index_n == view.index_c.wrapping_mul(view.channels as i64);
        let block = block(&axes, lane_bytes(plan), if evenly { usize::MAX } else { 1 });
        let mut tap_offsets: Vec<i32> = tap_offsets.into_iter().map(|offset| offset as i32).collect();
        tap_offsets.resize(tap_offsets.len().next_power_of_two(), 0);
        let tap_places = tap_places.into_iter().map(|place| place as usize).collect();
        Ok(Separable {
            axes,
            steps,
            block,
            tap_offsets,
            tap_places,
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

    /// Computes a part of Y, and of Indices in the order of Y. The slices have the plan's element type.
    pub fn run(
        &self,
        part: &PartOf<'_>,
        x: &[u8],
        y: &mut [u8],
        indices: Indices<'_>,
        scratch: &mut Scratch,
    ) -> Result<(), ExecuteError> {
        let with_indices = !matches!(indices, Indices::None);
        let mut work = Work::new(self, part, indices, scratch);
        macro_rules! run {
            ($function:ident, $code:ty) => {
                work.$function::<$code>(cast_slice(x), cast_slice_mut(y))
            };
        }
        match (part.plan.dtype(), with_indices) {
            (DType::F32, false) => run!(values, OfF32),
            (DType::F32, true) => run!(placed, OfF32),
            (DType::F64, false) => run!(values, OfF64),
            (DType::F64, true) => run!(placed, OfF64),
            (DType::I32, false) => run!(values, OfI32),
            (DType::I32, true) => run!(placed, OfI32),
            (DType::U32, false) => run!(values, OfU32),
            (DType::U32, true) => run!(placed, OfU32),
            (DType::I64, false) => run!(values, OfI64),
            (DType::I64, true) => run!(placed, OfI64),
            (DType::U64, false) => run!(values, OfU64),
            (DType::U64, true) => run!(placed, OfU64),
            (DType::U8, false) => run!(values, OfU8),
            (DType::U8, true) => run!(packed, OfU8),
            (DType::I8, false) => run!(values, OfI8),
            (DType::I8, true) => run!(packed, OfI8),
            (DType::I16, false) => run!(values, OfI16),
            (DType::I16, true) => run!(packed, OfI16),
            (DType::U16, false) => run!(values, OfU16),
            (DType::U16, true) => run!(packed, OfU16),
            (DType::F16, false) => run!(halves, OfF16),
            (DType::F16, true) => run!(packed, OfF16),
            (DType::Bf16, false) => run!(halves, OfBf16),
            (DType::Bf16, true) => run!(packed, OfBf16),
        }
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

/// What each tap of a window adds to something that has a stride along each axis.
fn along_taps(axes: &[Axis], stride: fn(&Axis) -> i64) -> Vec<i64> {
    let mut offsets = vec![0];
    for axis in axes {
        let taps = || (0..axis.kernel).map(|tap| (tap * axis.dilation) as i64 * stride(axis));
        offsets = offsets.iter().flat_map(|&outer| taps().map(move |own| outer + own)).collect();
    }
    offsets
}
