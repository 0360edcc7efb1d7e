//! Plans of index conversions.

use super::dimensions::{Dimensions, bytes_of, check_index_type, spec};
use crate::element::IndexType;
use crate::error::{ExecuteError, PlanError};
use crate::index::IndexSpace;
use crate::tensor::{TensorSpec, element_count};

/// An index conversion, ready to be computed.
///
/// ```
/// use wgpu_pooling::{ConvertIndices, ConvertPlan, IndexFlattening, IndexSpace, IndexType};
///
/// let onnx = IndexSpace::new(1, 2, [4]);
/// let convert = ConvertIndices::new(onnx.clone(), onnx.with_flatten(IndexFlattening::Plane));
/// let plan: ConvertPlan = convert.plan(&[1, 2, 3], IndexType::I64, IndexType::I32)?;
/// assert_eq!((plan.from().unit(), plan.to().unit()), (8, 4));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ConvertPlan {
    #[doc(hidden)]
    pub from: IndexSpace,
    #[doc(hidden)]
    pub to: IndexSpace,
    #[doc(hidden)]
    pub from_type: IndexType,
    #[doc(hidden)]
    pub to_type: IndexType,
    /// Spatial extents of the index tensor, outermost first.
    #[doc(hidden)]
    pub extents: Vec<usize>,
    /// The indices in the first convention.
    #[doc(hidden)]
    pub inputs: Vec<TensorSpec>,
    /// The indices in the second one.
    #[doc(hidden)]
    pub outputs: Vec<TensorSpec>,
}

impl ConvertPlan {
    /// The convention that is read.
    pub fn from(&self) -> &IndexSpace {
        &self.from
    }

    /// The convention that is written.
    pub fn to(&self) -> &IndexSpace {
        &self.to
    }

    /// The tensors that are read: the indices in the first convention, in its layout.
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, DType, IndexSpace, IndexType};
    /// let space = IndexSpace::new(1, 2, [4]);
    /// let plan = ConvertIndices::new(space.clone(), space).plan(&[1, 2, 3], IndexType::I64, IndexType::I32)?;
    /// assert_eq!((&plan.inputs()[0].shape[..], plan.inputs()[0].dtype), (&[1, 2, 3][..], DType::I64));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.inputs
    }

    /// The tensors that are written: the indices in the second convention, in its layout.
    ///
    /// ```
    /// use wgpu_pooling::{ConvertIndices, IndexSpace, IndexType, Layout};
    /// let (from, to) = (IndexSpace::new(1, 2, [4]), IndexSpace::new(1, 2, [4]).with_layout(Layout::Nhwc));
    /// let plan = ConvertIndices::new(from, to).plan(&[1, 2, 3], IndexType::I64, IndexType::I32)?;
    /// assert_eq!(plan.outputs()[0].shape, [1, 3, 2]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }

    /// The shape of the indices that are read, in their layout.
    pub fn input_shape(&self) -> &[usize] {
        &self.inputs[0].shape
    }

    /// The shape of the indices that are written, in their layout.
    pub fn output_shape(&self) -> &[usize] {
        &self.outputs[0].shape
    }

    /// The fewest bytes that computing the plan must move: the indices once each way.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.inputs, &self.outputs)
    }

    pub(crate) fn complete(
        from: IndexSpace,
        to: IndexSpace,
        from_type: IndexType,
        to_type: IndexType,
        dimensions: &Dimensions,
    ) -> Result<ConvertPlan, PlanError> {
        element_count(&from.shape())?;
        for (space, index_type) in [(&from, from_type), (&to, to_type)] {
            space.check()?;
            check_index_type(index_type, space.unit())?;
        }
        let extents = dimensions.spatial.clone();
        let Dimensions { batch, channels, .. } = *dimensions;
        let indices = |layout, of: IndexType| vec![spec(of.dtype(), layout, batch, channels, &extents)];
        let (inputs, outputs) = (indices(from.layout, from_type), indices(to.layout, to_type));
        Ok(ConvertPlan { from, to, from_type, to_type, extents, inputs, outputs })
    }

    /// The error of a conversion, from its first bad index, which is outside the unit or in another plane.
    #[doc(hidden)]
    pub fn offence(&self, position: u64, value: i64, count: u64) -> ExecuteError {
        let unit = self.from.unit();
        match u64::try_from(value) {
            Ok(value_in_range) if value_in_range < unit => ExecuteError::IndexNotInPlane { position, value, count },
            _ => ExecuteError::IndexOutOfRange { position, value, unit, count },
        }
    }
}
