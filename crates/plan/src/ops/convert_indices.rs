//! Conversion of indices from one convention to another.

use crate::element::{Index, IndexType};
use crate::error::PlanError;
use crate::index::IndexSpace;
use crate::plan::{ConvertPlan, Dimensions};
use crate::request::{AsTensor, Request};
use crate::tensor::Tensor;

/// Rewrites an index tensor from one convention to another, for example from ONNX's indices of the whole tensor to
/// PyTorch's indices of a plane, from row major to column major, or from NCHW to NHWC.
///
/// -1, the index of a window wholly in padding, stays -1. An index outside the first convention's unit is an error; so
/// is an index that names another plane than its own, if the second convention cannot express that.
///
/// The convention of a pool is `plan.indices()`'s `space`, that of an unpool `plan.space()`.
///
/// ```
/// use wgpu_pooling::{ConvertIndices, IndexFlattening, IndexSpace, Reference, TensorView};
///
/// // Two channels of four elements: ONNX counts on through the second, PyTorch starts again.
/// let onnx = IndexSpace::new(1, 2, [4]);
/// let pytorch = onnx.clone().with_flatten(IndexFlattening::Plane);
/// let indices = TensorView::new(&[1, 2, 2], &[1i64, 3, 4, 7])?;
/// let converted = ConvertIndices::new(onnx, pytorch).on::<i32, _>(indices).run_blocking(&Reference)?;
/// assert_eq!(converted.data(), &[1, 3, 0, 3]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ConvertIndices {
    from: IndexSpace,
    to: IndexSpace,
}

impl ConvertIndices {
    /// A conversion between two conventions on tensors of the same size.
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, IndexSpace, IndexType, StorageOrder};
    ///
    /// let rows = IndexSpace::new(1, 1, [2, 3]);
    /// let columns = rows.clone().with_order(StorageOrder::ColumnMajor);
    /// let plan = ConvertIndices::new(rows, columns.clone()).plan(&[1, 1, 1, 1], IndexType::I64, IndexType::I64)?;
    /// assert_eq!(plan.to(), &columns);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn new(from: IndexSpace, to: IndexSpace) -> Self {
        ConvertIndices { from, to }
    }

    /// This conversion of indices, to be run on a backend; `To` is the type of the results.
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, IndexSpace, Reference, StorageOrder, TensorView};
    /// // (1, 0) of a plane of 2 x 3: 3 by rows, 1 by columns.
    /// let rows = IndexSpace::new(1, 1, [2, 3]);
    /// let columns = rows.clone().with_order(StorageOrder::ColumnMajor);
    /// let indices = TensorView::new(&[1, 1, 1, 1], &[3i64])?;
    /// let converted = ConvertIndices::new(rows, columns).on::<i32, _>(indices).run_blocking(&Reference)?;
    /// assert_eq!(converted.data(), &[1]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn on<'a, To: Index, I: AsTensor<'a, Element: Index>>(&self, indices: I) -> Request<'a, Tensor<To>> {
        match indices.tensor() {
            Err(error) => Request::of(Err(error), Vec::new()),
            Ok(indices) => {
                let plan = self.plan(indices.shape(), I::Element::INDEX_TYPE, To::INDEX_TYPE);
                Request::of(plan.map(Into::into), vec![indices])
            }
        }
    }

    /// The plan for an index tensor of this shape, in the layout of the first convention. N and C are those of the
    /// conventions; the spatial extents are those of the pool's output.
    ///
    /// # Errors
    /// [`PlanError::SpaceMismatch`] if the conventions count tensors of different sizes, [`PlanError::IndexShape`] if
    /// the index tensor has another N, C or number of axes than the conventions, [`PlanError::IndexTypeTooNarrow`] if a
    /// unit exceeds an index type.
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, IndexSpace, IndexType, PlanError};
    ///
    /// let convert = ConvertIndices::new(IndexSpace::new(1, 1, [4]), IndexSpace::new(1, 1, [5]));
    /// let error = convert.plan(&[1, 1, 2], IndexType::I64, IndexType::I32).unwrap_err();
    /// assert_eq!(error, PlanError::SpaceMismatch { from: vec![1, 1, 4], to: vec![1, 1, 5] });
    /// ```
    pub fn plan(&self, shape: &[usize], from_type: IndexType, to_type: IndexType) -> Result<ConvertPlan, PlanError> {
        let sizes = |space: &IndexSpace| (space.batch, space.channels, space.extents.clone());
        if sizes(&self.from) != sizes(&self.to) {
            return Err(PlanError::SpaceMismatch { from: self.from.shape(), to: self.to.shape() });
        }
        let dimensions = Dimensions::of(shape, self.from.layout)?;
        let rank = dimensions.spatial.len();
        if (dimensions.batch, dimensions.channels, rank)
            != (self.from.batch, self.from.channels, self.from.extents.len())
        {
            return Err(PlanError::IndexShape { shape: shape.to_vec(), space: self.from.shape() });
        }
        ConvertPlan::complete(self.from.clone(), self.to.clone(), from_type, to_type, &dimensions)
    }
}
