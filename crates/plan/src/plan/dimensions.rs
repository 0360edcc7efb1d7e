//! The shapes of a plan's tensors, by layout.

use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::options::Layout;
use crate::tensor::{TensorSpec, element_count};

/// The most spatial axes that a tensor can have.
///
/// ```
/// use wgpu_pooling::{DType, GlobalMaxPool, MAX_SPATIAL_AXES};
///
/// let fits = |rank| GlobalMaxPool::new().plan(&vec![1; rank], DType::F32, None).is_ok();
/// assert!(fits(MAX_SPATIAL_AXES + 2), "N and C come before them");
/// assert!(!fits(MAX_SPATIAL_AXES + 3));
/// ```
pub const MAX_SPATIAL_AXES: usize = 10;

/// A tensor's shape as N, C and spatial extents.
pub(crate) struct Dimensions {
    pub batch: usize,
    pub channels: usize,
    pub spatial: Vec<usize>,
}

impl Dimensions {
    /// Splits the shape of a pooling input. Spatial extents must be at least 1; N and C may be zero.
    pub fn of(shape: &[usize], layout: Layout) -> Result<Dimensions, PlanError> {
        let rank = shape.len();
        if !(3..=MAX_SPATIAL_AXES + 2).contains(&rank) {
            return Err(PlanError::Rank { rank, max_spatial: MAX_SPATIAL_AXES });
        }
        let last = rank.saturating_sub(1);
        let (channels, spatial) = match layout {
            Layout::Nchw => (shape[1], &shape[2..]),
            Layout::Nhwc => (shape[last], &shape[1..last]),
        };
        if let Some(axis) = spatial.iter().position(|&extent| extent == 0) {
            return Err(PlanError::ZeroExtent { axis, shape: shape.to_vec() });
        }
        element_count(shape)?;
        Ok(Dimensions { batch: shape[0], channels, spatial: spatial.to_vec() })
    }
}

/// The tensor with these extents in a layout.
pub(crate) fn spec(dtype: DType, layout: Layout, batch: usize, channels: usize, spatial: &[usize]) -> TensorSpec {
    TensorSpec { shape: assemble(layout, batch, channels, spatial), dtype, layout }
}

/// The shape of a tensor with these extents in a layout.
pub(crate) fn assemble(layout: Layout, batch: usize, channels: usize, spatial: &[usize]) -> Vec<usize> {
    let mut shape = vec![batch];
    if layout == Layout::Nchw {
        shape.push(channels);
    }
    shape.extend_from_slice(spatial);
    if layout == Layout::Nhwc {
        shape.push(channels);
    }
    shape
}

/// 32-bit indices are refused, not wrapped, when there are more than 2^31 - 1 of them.
pub(crate) fn check_index_type(index_type: IndexType, index_count: u64) -> Result<(), PlanError> {
    if index_type == IndexType::I32 && index_count > i32::MAX as u64 {
        return Err(PlanError::IndexTypeTooNarrow { index_count });
    }
    Ok(())
}
