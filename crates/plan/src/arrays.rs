//! Tensors and the arrays of the crate `ndarray`: conversions of views and of owned arrays in both directions, without
//! copying.

use ndarray::{Array, ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn};

use crate::element::Element;
use crate::error::PlanError;
use crate::request::AsTensor;
use crate::tensor::{Tensor, TensorView, element_count};
use crate::untyped::TensorRef;

/// The array's elements as a tensor; they have to lie in row-major order without gaps (`as_standard_layout` copies
/// others).
///
/// ```
/// use ndarray::array;
/// use wgpu_pooling::{PlanError, TensorView};
///
/// let x = array![[[1.0f32, 2.0], [3.0, 4.0]]];
/// assert_eq!(TensorView::try_from(&x)?.shape(), &[1, 2, 2]);
/// let transposed = x.t();
/// let error = PlanError::NotDense { shape: vec![2, 2, 1], strides: vec![1, 2, 4] };
/// assert_eq!(TensorView::try_from(&transposed), Err(error));
/// # Ok::<(), PlanError>(())
/// ```
impl<'a, T, S: Data<Elem = T>, D: Dimension> TryFrom<&'a ArrayBase<S, D>> for TensorView<'a, T> {
    type Error = PlanError;

    fn try_from(array: &'a ArrayBase<S, D>) -> Result<Self, PlanError> {
        let data = array.as_slice().ok_or_else(|| not_dense(array.shape(), array.strides()))?;
        TensorView::new(array.shape(), data)
    }
}

/// The array as the input of a request.
///
/// ```
/// use ndarray::array;
/// use wgpu_pooling::{MaxPool, Reference};
///
/// let x = array![[[1.0f32, 2.0, 4.0, 3.0]]];
/// assert_eq!(MaxPool::new([2]).strides([2]).on(&x).run_blocking(&Reference)?.data(), &[2.0, 4.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
impl<'a, S: Data<Elem: Element>, D: Dimension> AsTensor<'a> for &'a ArrayBase<S, D> {
    type Element = S::Elem;

    fn tensor(self) -> Result<TensorRef<'a>, PlanError> {
        Ok(TensorView::try_from(self)?.into())
    }
}

/// The array as a tensor, moved; its elements have to lie in row-major order without gaps.
///
/// ```
/// use wgpu_pooling::Tensor;
///
/// let x = Tensor::try_from(ndarray::Array3::<u8>::zeros((1, 2, 3)))?;
/// assert_eq!(x.shape(), &[1, 2, 3]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
impl<T, D: Dimension> TryFrom<Array<T, D>> for Tensor<T> {
    type Error = PlanError;

    fn try_from(array: Array<T, D>) -> Result<Self, PlanError> {
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        let elements = element_count(&shape)? as usize;
        if !array.is_standard_layout() {
            return Err(not_dense(&shape, &strides));
        }
        // A sliced array keeps the elements around the slice.
        let (mut data, offset) = array.into_raw_vec_and_offset();
        data.truncate(offset.unwrap_or(0).saturating_add(elements));
        data.drain(..offset.unwrap_or(0).min(data.len()));
        Tensor::new(shape, data)
    }
}

/// The tensor as an array, moved.
///
/// # Errors
/// [`PlanError::ShapeOverflow`] for shapes without elements whose other extents ndarray refuses.
///
/// ```
/// use wgpu_pooling::Tensor;
///
/// let y = Tensor::new([1, 1, 2], vec![3.0f32, 4.0])?;
/// assert_eq!(ndarray::ArrayD::try_from(y)?[[0, 0, 1]], 4.0);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
impl<T> TryFrom<Tensor<T>> for ArrayD<T> {
    type Error = PlanError;

    fn try_from(tensor: Tensor<T>) -> Result<Self, PlanError> {
        let shape = tensor.shape().to_vec();
        ArrayD::from_shape_vec(IxDyn(&shape), tensor.into_data()).map_err(|_| PlanError::ShapeOverflow { shape })
    }
}

/// The tensor's elements as an array.
///
/// # Errors
/// As for owned tensors.
///
/// ```
/// use ndarray::ArrayViewD;
/// use wgpu_pooling::TensorView;
///
/// let y = TensorView::new(&[1, 1, 2], &[3.0f32, 4.0])?;
/// assert_eq!(ArrayViewD::try_from(y)?.sum(), 7.0);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
impl<'a, T> TryFrom<TensorView<'a, T>> for ArrayViewD<'a, T> {
    type Error = PlanError;

    fn try_from(view: TensorView<'a, T>) -> Result<Self, PlanError> {
        let overflow = |_| PlanError::ShapeOverflow { shape: view.shape().to_vec() };
        ArrayViewD::from_shape(IxDyn(view.shape()), view.data()).map_err(overflow)
    }
}

fn not_dense(shape: &[usize], strides: &[isize]) -> PlanError {
    PlanError::NotDense { shape: shape.to_vec(), strides: strides.to_vec() }
}
