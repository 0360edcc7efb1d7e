//! Dense host tensors whose element type is known at run time only: shape, element type and bytes.

use std::borrow::Cow;

use crate::element::{DType, Element};
use crate::error::{ExecuteError, PlanError};
use crate::tensor::{Tensor, TensorSpec, TensorView, element_count, zeros};

/// A borrowed dense tensor whose element type is known at run time: what a runtime has of a tensor.
///
/// The bytes are those of the elements in row-major order, each as the host stores it, and may begin at any address. A
/// [`TensorView`] and a `&`[`Tensor`] become one by `into`.
///
/// ```
/// use wgpu_pooling::{DType, Tensor, TensorRef};
///
/// let x = TensorRef::new(DType::U8, [1, 1, 4], &[3, 1, 2, 9])?;
/// assert_eq!(x, TensorRef::from(&Tensor::new([1, 1, 4], vec![3u8, 1, 2, 9])?));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TensorRef<'a> {
    dtype: DType,
    shape: Vec<usize>,
    bytes: &'a [u8],
}

impl<'a> TensorRef<'a> {
    /// A tensor of these bytes.
    ///
    /// # Errors
    /// [`PlanError::ByteLength`] unless there are exactly as many bytes as the elements of the shape have,
    /// [`PlanError::ShapeOverflow`] as [`element_count`](crate::element_count) gives it.
    ///
    /// ```
    /// use wgpu_pooling::{DType, PlanError, TensorRef};
    ///
    /// let error = TensorRef::new(DType::F16, [1, 1, 4], &[0; 7]).unwrap_err();
    /// assert_eq!(error, PlanError::ByteLength { dtype: DType::F16, shape: vec![1, 1, 4], expected: 8, actual: 7 });
    /// ```
    pub fn new(dtype: DType, shape: impl AsRef<[usize]>, bytes: &'a [u8]) -> Result<Self, PlanError> {
        let shape = shape.as_ref().to_vec();
        check_bytes(dtype, &shape, bytes.len())?;
        Ok(TensorRef { dtype, shape, bytes })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The bytes of the elements, in row-major order.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The elements: borrowed where they are aligned, copied where they are not. The type is the caller's to check.
    #[doc(hidden)]
    pub fn elements<T: Element>(&self) -> Result<Cow<'a, [T]>, ExecuteError> {
        if let Ok(elements) = bytemuck::try_cast_slice(self.bytes) {
            return Ok(Cow::Borrowed(elements));
        }
        let mut elements: Vec<T> = zeros(&[self.bytes.len() / size_of::<T>()])?;
        bytemuck::cast_slice_mut(&mut elements).copy_from_slice(self.bytes);
        Ok(Cow::Owned(elements))
    }
}

impl<'a, T: Element> From<TensorView<'a, T>> for TensorRef<'a> {
    fn from(view: TensorView<'a, T>) -> Self {
        (&view).into()
    }
}

impl<'a, T: Element> From<&TensorView<'a, T>> for TensorRef<'a> {
    fn from(view: &TensorView<'a, T>) -> Self {
        TensorRef { dtype: T::DTYPE, shape: view.shape().to_vec(), bytes: bytemuck::cast_slice(view.data()) }
    }
}

impl<'a, T: Element> From<&'a Tensor<T>> for TensorRef<'a> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view().into()
    }
}

/// A dense tensor to write, whose element type is known at run time. A `&mut` [`Tensor`] becomes one by `into`.
///
/// ```
/// use wgpu_pooling::{DType, TensorMut};
///
/// let mut arena = vec![0u8; 64];
/// let y = TensorMut::new(DType::F32, [1, 1, 3], &mut arena[16..28])?;
/// assert_eq!((y.dtype(), y.shape()), (DType::F32, &[1, 1, 3][..]));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, PartialEq)]
pub struct TensorMut<'a> {
    dtype: DType,
    shape: Vec<usize>,
    bytes: &'a mut [u8],
}

impl<'a> TensorMut<'a> {
    /// A tensor in these bytes, which may begin at any address.
    ///
    /// # Errors
    /// As [`TensorRef::new`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, TensorMut};
    /// assert!(TensorMut::new(DType::I64, [1, 1, 3], &mut [0; 24]).is_ok());
    /// assert!(TensorMut::new(DType::I64, [1, 1, 3], &mut [0; 25]).is_err());
    /// ```
    pub fn new(dtype: DType, shape: impl AsRef<[usize]>, bytes: &'a mut [u8]) -> Result<Self, PlanError> {
        let shape = shape.as_ref().to_vec();
        check_bytes(dtype, &shape, bytes.len())?;
        Ok(TensorMut { dtype, shape, bytes })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The bytes of the elements, in row-major order.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Has the elements written in place, or where the bytes are not aligned for them, in a copy that is taken over if
    /// there is no error.
    #[doc(hidden)]
    pub fn write<T: Element>(
        &mut self,
        write: impl FnOnce(&mut [T]) -> Result<(), ExecuteError>,
    ) -> Result<(), ExecuteError> {
        if let Ok(elements) = bytemuck::try_cast_slice_mut(self.bytes) {
            return write(elements);
        }
        let mut elements: Vec<T> = zeros(&[self.bytes.len() / size_of::<T>()])?;
        write(&mut elements)?;
        self.bytes.copy_from_slice(bytemuck::cast_slice(&elements));
        Ok(())
    }

    /// Writes the elements of a tensor of the same type and shape.
    #[doc(hidden)]
    pub fn assign<T: Element>(&mut self, tensor: &Tensor<T>) {
        self.bytes.copy_from_slice(bytemuck::cast_slice(tensor.data()));
    }

    /// The bytes of the elements, to be written.
    ///
    /// ```
    /// use wgpu_pooling::{DType, TensorMut};
    /// let mut bytes = [7; 3];
    /// TensorMut::new(DType::U8, [1, 1, 3], &mut bytes)?.bytes_mut().fill(9);
    /// assert_eq!(bytes, [9; 3]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.bytes
    }
}

impl<'a, T: Element> From<&'a mut Tensor<T>> for TensorMut<'a> {
    fn from(tensor: &'a mut Tensor<T>) -> Self {
        let shape = tensor.shape().to_vec();
        TensorMut { dtype: T::DTYPE, shape, bytes: bytemuck::cast_slice_mut(tensor.data_mut()) }
    }
}

/// Writes Y and Indices of a pool.
pub fn assign_both<T: Element, I: Element>(outputs: &mut [TensorMut<'_>], (y, indices): &(Tensor<T>, Tensor<I>)) {
    if let [first, second] = outputs {
        first.assign(y);
        second.assign(indices);
    }
}

/// Refuses tensors that are not those of a plan.
pub fn check_operands(
    operator: &'static str,
    (read, inputs): (&[TensorSpec], &[TensorRef<'_>]),
    (written, outputs): (&[TensorSpec], &[TensorMut<'_>]),
) -> Result<(), ExecuteError> {
    let count = |what, specs: &[TensorSpec], actual: usize| {
        // A plan has at most two of each.
        let expected = if specs.len() == 1 { "1" } else { "2" };
        if specs.len() == actual { Ok(()) } else { Err(PlanError::OperandCount { operator, what, expected, actual }) }
    };
    count("inputs", read, inputs.len())?;
    count("outputs", written, outputs.len())?;
    for ((spec, x), what) in read.iter().zip(inputs).zip(["inputs[0]", "inputs[1]"]) {
        spec.check_untyped(what, x.dtype, &x.shape)?;
    }
    for ((spec, y), what) in written.iter().zip(outputs).zip(["outputs[0]", "outputs[1]"]) {
        spec.check_untyped(what, y.dtype, &y.shape)?;
    }
    Ok(())
}

fn check_bytes(dtype: DType, shape: &[usize], actual: usize) -> Result<(), PlanError> {
    // The product of a checked shape leaves room for eight bytes an element.
    let expected = element_count(shape)?.saturating_mul(dtype.bytes() as u64);
    if expected == actual as u64 {
        return Ok(());
    }
    Err(PlanError::ByteLength { dtype, shape: shape.to_vec(), expected, actual })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unaligned_elements_are_copied() {
        let bytes: Vec<u8> = (0..33).collect();
        for begin in 0..8 {
            let x = TensorRef::new(DType::I64, [1, 1, 3], &bytes[begin..begin + 24]).unwrap();
            let expected: Vec<i64> =
                bytes[begin..begin + 24].chunks(8).map(|bytes| i64::from_ne_bytes(bytes.try_into().unwrap())).collect();
            assert_eq!(&*x.elements::<i64>().unwrap(), &expected);
        }
    }

    #[test]
    fn a_product_that_overflows_is_refused() {
        let error = TensorRef::new(DType::F64, [usize::MAX, 2], &[]).unwrap_err();
        assert!(matches!(error, PlanError::ShapeOverflow { .. }));
    }
}
