//! Dense host tensors whose element type is known at run time only: shape, element type and bytes.

use std::borrow::Cow;
use std::fmt;

use crate::element::{DType, Element};
use crate::error::{ExecuteError, PlanError};
use crate::plan::Plan;
use crate::tensor::{Tensor, TensorView, count, element_count, zeros};

/// A borrowed dense tensor whose element type is known at run time: what a runtime has of a tensor, and what backends
/// read.
///
/// The bytes are those of the elements in row-major order, each as the host stores it, and may begin at any address. A
/// [`TensorView`] and a `&`[`Tensor`] become one by `into`.
///
/// ```
/// use wgpu_pooling::{DType, Tensor, TensorRef};
///
/// let x = TensorRef::new(DType::U8, &[1, 1, 4], &[3, 1, 2, 9])?;
/// assert_eq!(x, TensorRef::from(&Tensor::new([1, 1, 4], vec![3u8, 1, 2, 9])?));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TensorRef<'a> {
    dtype: DType,
    shape: &'a [usize],
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
    /// let error = TensorRef::new(DType::F16, &[1, 1, 4], &[0; 7]).unwrap_err();
    /// assert_eq!(error, PlanError::ByteLength { dtype: DType::F16, shape: vec![1, 1, 4], expected: 8, actual: 7 });
    /// ```
    pub fn new(dtype: DType, shape: &'a [usize], bytes: &'a [u8]) -> Result<Self, PlanError> {
        check_bytes(dtype, shape, bytes.len())?;
        Ok(TensorRef { dtype, shape, bytes })
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The bytes of the elements, in row-major order.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The elements, copied where the bytes are not aligned for them.
    pub(crate) fn elements<T: Element>(&self) -> Result<Cow<'a, [T]>, ExecuteError> {
        if let Ok(elements) = bytemuck::try_cast_slice(self.bytes) {
            return Ok(Cow::Borrowed(elements));
        }
        let mut elements: Vec<T> = zeros(&[self.bytes.len() / size_of::<T>()])?;
        bytemuck::cast_slice_mut(&mut elements).copy_from_slice(self.bytes);
        Ok(Cow::Owned(elements))
    }

    /// Passes the bytes to `read` at an address that is aligned for the elements; others are copied.
    #[doc(hidden)]
    pub fn aligned<R>(&self, read: impl FnOnce(&[u8]) -> Result<R, ExecuteError>) -> Result<R, ExecuteError> {
        if self.bytes.as_ptr().addr().is_multiple_of(self.dtype.bytes()) {
            return read(self.bytes);
        }
        let mut words = words_for(self.bytes.len())?;
        let bytes = &mut bytemuck::cast_slice_mut(&mut words)[..self.bytes.len()];
        bytes.copy_from_slice(self.bytes);
        read(bytes)
    }
}

impl<'a, T: Element> From<TensorView<'a, T>> for TensorRef<'a> {
    fn from(view: TensorView<'a, T>) -> Self {
        TensorRef { dtype: T::DTYPE, shape: view.shape(), bytes: bytemuck::cast_slice(view.data()) }
    }
}

impl<'a, T: Element> From<&TensorView<'a, T>> for TensorRef<'a> {
    fn from(view: &TensorView<'a, T>) -> Self {
        (*view).into()
    }
}

impl<'a, T: Element> From<&'a Tensor<T>> for TensorRef<'a> {
    fn from(tensor: &'a Tensor<T>) -> Self {
        tensor.view().into()
    }
}

/// A dense tensor to be written, whose element type is known at run time: memory of the caller, or a new vector that
/// the backend fills.
///
/// A `&mut`[`Tensor`] becomes one by `into`.
///
/// ```
/// use wgpu_pooling::{DType, TensorMut};
///
/// let mut arena = vec![0u8; 64];
/// let y = TensorMut::new(DType::F32, &[1, 1, 3], &mut arena[16..28])?;
/// assert_eq!((y.dtype(), y.shape()), (DType::F32, &[1, 1, 3][..]));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub struct TensorMut<'a> {
    dtype: DType,
    shape: &'a [usize],
    memory: OutputMemory<'a>,
    fresh: bool,
}

/// Existing memory, or a vector that is made at the first write: from all bytes at once, or zeroed by the allocator for
/// a backend that writes in any order.
enum OutputMemory<'a> {
    Given(&'a mut [u8]),
    New(&'a mut dyn FillFromBytes),
}

/// A vector of elements, which has their alignment, to be filled by bytes.
trait FillFromBytes: Send {
    /// Makes it hold these bytes.
    fn put(&mut self, bytes: &[u8]) -> Result<(), ExecuteError>;

    /// The bytes of this number of elements; zeros if it had another number.
    fn bytes(&mut self, elements: u64) -> Result<&mut [u8], ExecuteError>;
}

impl<T: Element> FillFromBytes for Vec<T> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), ExecuteError> {
        let elements = bytes.len() / size_of::<T>();
        self.clear();
        let missing = |_| ExecuteError::OutOfMemory(format!("{elements} elements of {}", T::DTYPE.name()));
        self.try_reserve_exact(elements).map_err(missing)?;
        match bytemuck::try_cast_slice(bytes) {
            Ok(elements) => self.extend_from_slice(elements),
            Err(_) => self.extend(bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned::<T>)),
        }
        Ok(())
    }

    fn bytes(&mut self, elements: u64) -> Result<&mut [u8], ExecuteError> {
        if self.len() as u64 != elements {
            *self = zeros(&[usize::try_from(elements).unwrap_or(usize::MAX)])?;
        }
        Ok(bytemuck::cast_slice_mut(self))
    }
}

impl<'a> TensorMut<'a> {
    /// A tensor in these bytes, which may begin at any address.
    ///
    /// # Errors
    /// As [`TensorRef::new`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, TensorMut};
    /// assert!(TensorMut::new(DType::I64, &[1, 1, 3], &mut [0; 24]).is_ok());
    /// assert!(TensorMut::new(DType::I64, &[1, 1, 3], &mut [0; 25]).is_err());
    /// ```
    pub fn new(dtype: DType, shape: &'a [usize], bytes: &'a mut [u8]) -> Result<Self, PlanError> {
        check_bytes(dtype, shape, bytes.len())?;
        Ok(TensorMut { dtype, shape, memory: OutputMemory::Given(bytes), fresh: false })
    }

    /// A tensor whose elements are made when they are written.
    pub(crate) fn to_fill<T: Element>(tensor: &'a mut Tensor<T>) -> Self {
        let (shape, vector) = tensor.parts_mut();
        TensorMut { dtype: T::DTYPE, shape, memory: OutputMemory::New(vector), fresh: true }
    }

    /// Allows a call that returns an error to leave this tensor partly written. Otherwise an unpool on the CPU checks
    /// all indices before it writes, so that an error leaves the caller's memory unchanged; the check takes a tenth to
    /// a sixth of the call's time. Tensors that a call returns are fresh.
    ///
    /// ```
    /// use wgpu_pooling::{Backend, DType, ExecuteError, IndexType, MaxUnpool, Reference, TensorMut, TensorView};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 2], DType::U8, IndexType::I64)?;
    /// let x = TensorView::new(&[1, 1, 2], &[3u8, 2])?;
    /// let indices = TensorView::new(&[1, 1, 2], &[0i64, 7])?;
    /// let mut bytes = [9; 3];
    /// let y = TensorMut::new(DType::U8, &[1, 1, 3], &mut bytes)?.fresh();
    /// // What the bytes hold after the error is not said.
    /// let refused = Reference.run_blocking(&plan, &[x.into(), indices.into()], &mut [y]);
    /// assert!(matches!(refused, Err(ExecuteError::IndexOutOfRange { .. })));
    /// # Ok::<(), ExecuteError>(())
    /// ```
    #[must_use]
    pub fn fresh(self) -> Self {
        TensorMut { fresh: true, ..self }
    }

    /// Borrows the tensor again, as `&mut *y` does with a reference.
    #[doc(hidden)]
    pub fn reborrow(&mut self) -> TensorMut<'_> {
        let memory = match &mut self.memory {
            OutputMemory::Given(bytes) => OutputMemory::Given(bytes),
            OutputMemory::New(vector) => OutputMemory::New(&mut **vector),
        };
        TensorMut { dtype: self.dtype, shape: self.shape, memory, fresh: self.fresh }
    }

    /// Whether the memory may hold anything after an error: [`TensorMut::fresh`].
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents, outermost first.
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// Writes all bytes at once.
    ///
    /// # Errors
    /// [`ExecuteError::OutOfMemory`] if there is none for a new tensor; [`PlanError::ByteLength`] unless there are
    /// exactly as many bytes as the elements have.
    ///
    /// ```
    /// use wgpu_pooling::{DType, TensorMut};
    /// let mut bytes = [7; 3];
    /// TensorMut::new(DType::U8, &[1, 1, 3], &mut bytes)?.put(&[1, 2, 3])?;
    /// assert_eq!(bytes, [1, 2, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), ExecuteError> {
        check_bytes(self.dtype, self.shape, bytes.len())?;
        match &mut self.memory {
            OutputMemory::Given(own) => {
                own.copy_from_slice(bytes);
                Ok(())
            }
            OutputMemory::New(vector) => vector.put(bytes),
        }
    }

    /// The bytes of the elements, to be written in place.
    ///
    /// # Errors
    /// As [`TensorMut::put`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, TensorMut};
    /// let mut bytes = [7; 3];
    /// TensorMut::new(DType::U8, &[1, 1, 3], &mut bytes)?.bytes_mut()?.fill(9);
    /// assert_eq!(bytes, [9; 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn bytes_mut(&mut self) -> Result<&mut [u8], ExecuteError> {
        match &mut self.memory {
            OutputMemory::Given(bytes) => Ok(bytes),
            OutputMemory::New(vector) => vector.bytes(count(self.shape)),
        }
    }

    /// Passes the bytes to `write`. If they are not aligned for the elements, it writes a copy, which is copied back
    /// unless there is an error.
    #[doc(hidden)]
    pub fn aligned(&mut self, write: impl FnOnce(&mut [u8]) -> Result<(), ExecuteError>) -> Result<(), ExecuteError> {
        let alignment = self.dtype.bytes();
        let bytes = self.bytes_mut()?;
        if bytes.as_ptr().addr().is_multiple_of(alignment) {
            return write(bytes);
        }
        let mut words = words_for(bytes.len())?;
        let copy = &mut bytemuck::cast_slice_mut(&mut words)[..bytes.len()];
        write(copy)?;
        bytes.copy_from_slice(copy);
        Ok(())
    }
}

impl fmt::Debug for TensorMut<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TensorMut { dtype, shape, memory, fresh } = self;
        let new = matches!(memory, OutputMemory::New(_));
        let mut text = formatter.debug_struct("TensorMut");
        text.field("dtype", dtype)
            .field("shape", shape)
            .field("fresh", fresh)
            .field("new", &new)
            .finish_non_exhaustive()
    }
}

impl<'a, T: Element> From<&'a mut Tensor<T>> for TensorMut<'a> {
    fn from(tensor: &'a mut Tensor<T>) -> Self {
        let (shape, data) = tensor.parts_mut();
        TensorMut { dtype: T::DTYPE, shape, memory: OutputMemory::Given(bytemuck::cast_slice_mut(data)), fresh: false }
    }
}

/// Refuses tensors that are not those of a plan.
pub fn check_operands(plan: &Plan, inputs: &[TensorRef<'_>], outputs: &[TensorMut<'_>]) -> Result<(), ExecuteError> {
    plan.check_count("inputs", plan.inputs(), inputs.len())?;
    plan.check_count("outputs", plan.outputs(), outputs.len())?;
    let [read, written] = Plan::OPERAND_NAMES;
    let read = inputs.iter().map(|x| (x.dtype, x.shape)).zip(plan.inputs()).zip(read);
    let written = outputs.iter().map(|y| (y.dtype, y.shape)).zip(plan.outputs()).zip(written);
    for (((dtype, shape), spec), what) in read.chain(written) {
        spec.check_dtype(what, dtype)?;
        spec.check_shape(what, shape)?;
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

/// Words for this number of bytes, at an address that is aligned for elements of every type.
pub(crate) fn words_for(bytes: usize) -> Result<Vec<u64>, ExecuteError> {
    zeros(&[bytes.div_ceil(size_of::<u64>())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unaligned_elements_are_copied() {
        let bytes: Vec<u8> = (0..32).collect();
        for begin in 0..8 {
            let given = &bytes[begin..begin + 24];
            let expected: Vec<u64> = given.as_chunks().0.iter().map(|&bytes| u64::from_ne_bytes(bytes)).collect();
            let x = TensorRef::new(DType::U64, &[3], given).unwrap();
            assert_eq!(*x.elements::<u64>().unwrap(), expected);
        }
    }

    #[test]
    fn a_new_vector_is_made_of_bytes_or_of_zeros() {
        let mut y = Tensor::<f32>::unfilled(vec![1, 2]);
        let bytes: Vec<u8> = [0u8].into_iter().chain([1.0f32, 2.0].iter().flat_map(|x| x.to_ne_bytes())).collect();
        TensorMut::to_fill(&mut y).put(&bytes[1..]).unwrap();
        assert_eq!(y.data(), [1.0, 2.0]);
        let mut y = Tensor::<f32>::unfilled(vec![1, 3]);
        assert_eq!(TensorMut::to_fill(&mut y).bytes_mut().unwrap(), [0; 12]);
        assert!(TensorMut::to_fill(&mut y).put(&[0; 8]).is_err());
    }
}
