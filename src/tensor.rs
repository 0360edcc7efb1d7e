//! Dense host tensors: a shape and a slice or a vector in row-major order.

use crate::error::PlanError;

/// The number of elements of a shape, checked so that the bytes of any dtype fit 64 bits.
///
/// An extent of 0 makes it 0, but the others have to be reasonable all the same.
///
/// # Errors
/// [`PlanError::ShapeOverflow`] with the shape.
///
/// ```
/// assert_eq!(wgpu_pooling::element_count(&[2, 3, 4])?, 24);
/// assert_eq!(wgpu_pooling::element_count(&[0, 3, 4])?, 0);
/// assert!(wgpu_pooling::element_count(&[usize::MAX, 2]).is_err());
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub fn element_count(shape: &[usize]) -> Result<u64, PlanError> {
    // X, Y and Indices have eight bytes an element at most, and the sum of their byte counts stays below 2^63.
    const MOST: u64 = (i64::MAX as u64) / 32;
    let product = shape
        .iter()
        .try_fold(1u64, |product, &extent| product.checked_mul((extent as u64).max(1)).filter(|&count| count <= MOST));
    match product {
        Some(_) if shape.contains(&0) => Ok(0),
        Some(product) => Ok(product),
        None => Err(PlanError::ShapeOverflow { shape: shape.to_vec() }),
    }
}

/// A borrowed dense tensor.
///
/// ```
/// use wgpu_pooling::TensorView;
/// let data = [1.0f32, 2.0, 3.0, 4.0];
/// let x = TensorView::new([1, 1, 4], &data)?;
/// assert_eq!(x.shape(), &[1, 1, 4]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TensorView<'a, T> {
    shape: Vec<usize>,
    data: &'a [T],
}

impl<'a, T> TensorView<'a, T> {
    /// A view of `data`, in row-major order.
    ///
    /// # Errors
    /// [`PlanError::DataLength`] unless the slice has exactly as many elements as the shape,
    /// [`PlanError::ShapeOverflow`] if the shape's product is too large.
    ///
    /// ```
    /// use wgpu_pooling::{PlanError, TensorView};
    /// let error = TensorView::new([1, 1, 4], &[1u8, 2, 3]).unwrap_err();
    /// assert_eq!(error, PlanError::DataLength { shape: vec![1, 1, 4], expected: 4, actual: 3 });
    /// ```
    pub fn new(shape: impl AsRef<[usize]>, data: &'a [T]) -> Result<Self, PlanError> {
        let shape = shape.as_ref().to_vec();
        check_length(&shape, data.len())?;
        Ok(TensorView { shape, data })
    }

    /// The extents, outermost first.
    ///
    /// ```
    /// assert_eq!(wgpu_pooling::TensorView::new([1, 2], &[7u8, 8])?.shape(), &[1, 2]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, in row-major order.
    ///
    /// ```
    /// assert_eq!(wgpu_pooling::TensorView::new([1, 2], &[7u8, 8])?.data(), &[7, 8]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn data(&self) -> &'a [T] {
        self.data
    }
}

/// An owned dense tensor.
///
/// ```
/// use wgpu_pooling::Tensor;
/// let x = Tensor::new([1, 1, 2], vec![1u8, 2])?;
/// assert_eq!(x.view().data(), &[1, 2]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor<T> {
    shape: Vec<usize>,
    data: Vec<T>,
}

impl<T> Tensor<T> {
    /// A tensor of `data`, in row-major order.
    ///
    /// # Errors
    /// As [`TensorView::new`].
    ///
    /// ```
    /// use wgpu_pooling::Tensor;
    /// // Two rows of three.
    /// assert!(Tensor::new([2, 3], vec![1u8, 2, 3, 4, 5, 6]).is_ok());
    /// assert!(Tensor::new([2, 3], vec![1u8, 2, 3, 4, 5]).is_err());
    /// ```
    pub fn new(shape: impl AsRef<[usize]>, data: Vec<T>) -> Result<Self, PlanError> {
        let shape = shape.as_ref().to_vec();
        check_length(&shape, data.len())?;
        Ok(Tensor { shape, data })
    }

    /// A tensor whose length is known to be right.
    pub(crate) fn from_parts(shape: Vec<usize>, data: Vec<T>) -> Self {
        debug_assert_eq!(element_count(&shape), Ok(data.len() as u64));
        Tensor { shape, data }
    }

    /// The extents, outermost first.
    ///
    /// ```
    /// assert_eq!(wgpu_pooling::Tensor::new([1, 2], vec![7u8, 8])?.shape(), &[1, 2]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, in row-major order.
    ///
    /// ```
    /// assert_eq!(wgpu_pooling::Tensor::new([1, 2], vec![7u8, 8])?.data(), &[7, 8]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The elements, moved out.
    ///
    /// ```
    /// assert_eq!(wgpu_pooling::Tensor::new([1, 2], vec![7u8, 8])?.into_data(), vec![7, 8]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn into_data(self) -> Vec<T> {
        self.data
    }

    /// A view of the whole tensor.
    ///
    /// ```
    /// use wgpu_pooling::{Tensor, TensorView};
    /// let x = Tensor::new([1, 2], vec![7u8, 8])?;
    /// assert_eq!(x.view(), TensorView::new([1, 2], &[7, 8])?);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView { shape: self.shape.clone(), data: &self.data }
    }
}

fn check_length(shape: &[usize], actual: usize) -> Result<(), PlanError> {
    let expected = element_count(shape)?;
    if expected == actual as u64 {
        Ok(())
    } else {
        Err(PlanError::DataLength { shape: shape.to_vec(), expected, actual })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_must_have_exactly_the_elements_of_its_shape() {
        assert!(TensorView::new([2, 3], &[0u8; 6]).is_ok());
        for actual in [0, 5, 7] {
            let data = vec![0u8; actual];
            let error = TensorView::new([2, 3], &data).unwrap_err();
            assert_eq!(error, PlanError::DataLength { shape: vec![2, 3], expected: 6, actual });
        }
    }

    #[test]
    fn a_product_beyond_64_bits_is_an_error_even_beside_a_zero() {
        assert!(matches!(element_count(&[usize::MAX, usize::MAX]), Err(PlanError::ShapeOverflow { .. })));
        assert!(matches!(element_count(&[usize::MAX, 0, usize::MAX]), Err(PlanError::ShapeOverflow { .. })));
        assert_eq!(element_count(&[1 << 40, 0, 3]), Ok(0));
        assert_eq!(element_count(&[1 << 20, 1 << 20]), Ok(1 << 40));
    }
}
