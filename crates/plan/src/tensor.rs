//! Dense host tensors: a shape and a slice or a vector in row-major order.

use std::borrow::Cow;
use std::ops::Range;

use crate::element::{DType, IndexType};
use crate::error::{ExecuteError, PlanError};
use crate::options::Layout;

/// The number of elements of a shape, checked so that the bytes of any dtype fit 64 bits.
///
/// An extent of 0 makes the result 0, but the product of the other extents is checked too.
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
    // X, Y and Indices have at most eight bytes per element, so the sum of their byte counts stays below 2^63.
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

/// A tensor's shape, element type and layout: a plan's description of an input or output.
///
/// ```
/// use wgpu_pooling::{DType, Layout, TensorSpec};
/// let x = TensorSpec { shape: vec![1, 1, 5], dtype: DType::F16, layout: Layout::Nchw };
/// assert_eq!((x.element_count(), x.bytes(), x.device_bytes()), (5, 10, 12));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorSpec {
    /// The extents in the tensor's layout, outermost first.
    pub shape: Vec<usize>,
    /// The element type; that of indices is [`DType::I32`] or [`DType::I64`].
    pub dtype: DType,
    /// The layout: the position of the channel axis.
    pub layout: Layout,
}

impl TensorSpec {
    /// The number of elements. It saturates; the shapes of plans are checked by [`element_count`] and never do.
    pub fn element_count(&self) -> u64 {
        count(&self.shape)
    }

    /// The bytes of the elements. They saturate; those of plans never do.
    pub fn bytes(&self) -> u64 {
        self.element_count().saturating_mul(self.dtype.bytes() as u64)
    }

    /// The bytes of the tensor on a device: whole words, and at least one element's, since a binding cannot be empty.
    #[inline]
    pub fn device_bytes(&self) -> u64 {
        device_bytes(self.element_count().max(1), self.dtype.bytes())
    }

    /// Refuses elements of another type.
    #[doc(hidden)]
    pub fn check_dtype(&self, what: &'static str, dtype: DType) -> Result<(), ExecuteError> {
        let (expected, actual) = (self.dtype.name(), dtype.name());
        if expected == actual { Ok(()) } else { Err(ExecuteError::TypeMismatch { what, expected, actual }) }
    }

    /// Refuses another shape.
    #[doc(hidden)]
    pub fn check_shape(&self, what: &'static str, shape: &[usize]) -> Result<(), ExecuteError> {
        if self.shape == shape {
            return Ok(());
        }
        Err(ExecuteError::ShapeMismatch { what, expected: self.shape.clone(), actual: shape.to_vec() })
    }

    /// Refuses a slice with another number of elements.
    pub(crate) fn check_length(&self, elements: usize) -> Result<(), PlanError> {
        check_length(&self.shape, elements)
    }
}

/// The product of a shape. It saturates; the shapes of plans are checked by [`element_count`] and never do.
#[inline]
pub fn count(shape: &[usize]) -> u64 {
    shape.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent as u64))
}

/// The bytes of elements on the device: rounded up to whole words. They saturate; a checked shape's do not.
#[inline]
pub fn device_bytes(elements: u64, element_bytes: usize) -> u64 {
    elements.saturating_mul(element_bytes as u64).checked_next_multiple_of(4).unwrap_or(u64::MAX)
}

/// Steps to the next position in a box, the last axis fastest, like an odometer. `range` is the box along an axis.
/// Returns the axis along which the position has moved on; those after it are at their beginning again. `None` where
/// the position is the last one.
pub fn advance(at: &mut [usize], range: &dyn Fn(usize) -> Range<usize>) -> Option<usize> {
    let axis = (0..at.len()).rev().find(|&axis| at[axis] + 1 < range(axis).end)?;
    at[axis] += 1;
    (axis + 1..at.len()).for_each(|inner| at[inner] = range(inner).start);
    Some(axis)
}

/// Calls `visit` with every tuple of coordinates below `extents`, the last axis fastest; with none if an extent is 0.
pub fn for_each(extents: &[usize], visit: &mut dyn FnMut(&[usize])) {
    let mut at = vec![0; extents.len()];
    let mut more = !extents.contains(&0);
    while more {
        visit(&at);
        more = advance(&mut at, &|axis| 0..extents[axis]).is_some();
    }
}

/// Calls `visit` with N, C and the spatial coordinates of every element of a tensor, in this order.
pub(crate) fn for_each_element(
    batch: usize,
    channels: usize,
    extents: &[usize],
    visit: &mut dyn FnMut(usize, usize, &[usize]),
) {
    for_each(&[&[batch, channels], extents].concat(), &mut |at| visit(at[0], at[1], &at[2..]));
}

/// The position of an element in a dense tensor of a layout: N, C, spatial or N, spatial, C.
#[inline]
pub fn position(layout: Layout, channels: usize, extents: &[usize], n: usize, c: usize, at: &[usize]) -> usize {
    let spatial = extents.iter().zip(at).fold(0, |position, (extent, coordinate)| position * extent + coordinate);
    let plane: usize = extents.iter().product();
    match layout {
        Layout::Nchw => (n * channels + c) * plane + spatial,
        Layout::Nhwc => (n * plane + spatial) * channels + c,
    }
}

/// A zeroed buffer for a tensor of this shape, or an error where memory does not suffice.
pub fn zeros<T: bytemuck::Zeroable>(shape: &[usize]) -> Result<Vec<T>, ExecuteError> {
    let count = count(shape);
    usize::try_from(count)
        .ok()
        .and_then(|count| bytemuck::allocation::try_zeroed_vec(count).ok())
        .ok_or_else(|| ExecuteError::OutOfMemory(format!("{count} elements of shape {shape:?}")))
}

/// The bytes of indices of this type. Plans refuse i32 where an index may exceed it, so nothing is lost.
pub(crate) fn index_bytes(indices: &[i64], index_type: IndexType) -> Result<Cow<'_, [u8]>, ExecuteError> {
    if index_type == IndexType::I64 {
        return Ok(Cow::Borrowed(bytemuck::cast_slice(indices)));
    }
    let mut narrow = zeros::<u8>(&[indices.len(), size_of::<i32>()])?;
    for (to, &index) in narrow.chunks_exact_mut(size_of::<i32>()).zip(indices) {
        to.copy_from_slice(&(index as i32).to_ne_bytes());
    }
    Ok(Cow::Owned(narrow))
}

/// A borrowed dense tensor: a shape and a slice, both the caller's.
///
/// ```
/// use wgpu_pooling::TensorView;
/// let data = [1.0f32, 2.0, 3.0, 4.0];
/// let x = TensorView::new(&[1, 1, 4], &data)?;
/// assert_eq!(x.shape(), &[1, 1, 4]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct TensorView<'a, T> {
    shape: &'a [usize],
    data: &'a [T],
}

impl<T> Clone for TensorView<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TensorView<'_, T> {}

impl<'a, T> TensorView<'a, T> {
    /// A view of `data`, in row-major order.
    ///
    /// # Errors
    /// [`PlanError::DataLength`] unless the slice has exactly as many elements as the shape,
    /// [`PlanError::ShapeOverflow`] if the shape's product is too large.
    ///
    /// ```
    /// use wgpu_pooling::{PlanError, TensorView};
    /// let error = TensorView::new(&[1, 1, 4], &[1u8, 2, 3]).unwrap_err();
    /// assert_eq!(error, PlanError::DataLength { shape: vec![1, 1, 4], expected: 4, actual: 3 });
    /// ```
    pub fn new(shape: &'a [usize], data: &'a [T]) -> Result<Self, PlanError> {
        check_length(shape, data.len())?;
        Ok(TensorView { shape, data })
    }

    /// The extents, outermost first.
    #[inline]
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The elements, in row-major order.
    #[inline]
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

    /// A tensor whose length the caller has checked.
    pub(crate) fn from_parts(shape: Vec<usize>, data: Vec<T>) -> Self {
        debug_assert_eq!(element_count(&shape), Ok(data.len() as u64));
        Tensor { shape, data }
    }

    /// The extents, outermost first.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements, in row-major order.
    #[inline]
    pub fn data(&self) -> &[T] {
        &self.data
    }

    /// The elements, in row-major order, to be written.
    ///
    /// ```
    /// let mut x = wgpu_pooling::Tensor::new([1, 2], vec![7u8, 8])?;
    /// x.data_mut()[0] = 9;
    /// assert_eq!(x.data(), &[9, 8]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    #[inline]
    pub fn data_mut(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// A tensor whose elements are still to come.
    pub(crate) fn unfilled(shape: Vec<usize>) -> Self {
        Tensor { shape, data: Vec::new() }
    }

    /// The extents, and the vector of elements to be written.
    pub(crate) fn parts_mut(&mut self) -> (&[usize], &mut Vec<T>) {
        (&self.shape, &mut self.data)
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
    /// assert_eq!(x.view(), TensorView::new(&[1, 2], &[7, 8])?);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn view(&self) -> TensorView<'_, T> {
        TensorView { shape: &self.shape, data: &self.data }
    }
}

/// A view of the whole tensor, as [`Tensor::view`] gives it.
///
/// ```
/// use wgpu_pooling::{Tensor, TensorView};
/// let x = Tensor::new([1, 2], vec![7u8, 8])?;
/// assert_eq!(TensorView::from(&x), x.view());
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
impl<'a, T> From<&'a Tensor<T>> for TensorView<'a, T> {
    fn from(tensor: &'a Tensor<T>) -> TensorView<'a, T> {
        tensor.view()
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
