//! Tensors that files hold: initializers, and the inputs and outputs recorded beside a model.

use std::borrow::Cow;
use std::path::Path;

use wgpu_pooling_plan::{DType, ExecuteError, PlanError, TensorMut, TensorRef, TensorSpec, internal::zeros};

use super::error::ModelError;
use super::external::ExternalData;
use super::files::{self, MAX_FILE};
use super::node::integers;
use super::proto::{TensorMessage, dtype};
use super::wire::{Message, push};

/// A tensor of a file, or an output of a node. Elements that a file has as bytes are borrowed from it.
///
/// ```
/// use wgpu_pooling::onnx::FileTensor;
///
/// // dims [2], data_type UINT8, raw_data [7, 9]: a TensorProto, as the file input_0.pb of a node test is.
/// let bytes = [0x08, 2, 0x10, 2, 0x4A, 2, 7, 9];
/// let tensor = FileTensor::read(&bytes)?;
/// assert_eq!((tensor.shape(), tensor.bytes()), (&[2][..], &[7, 9][..]));
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct FileTensor<'a> {
    name: Cow<'a, str>,
    dtype: DType,
    shape: Vec<usize>,
    bytes: Cow<'a, [u8]>,
}

impl<'a> FileTensor<'a> {
    /// Reads a `TensorProto`, whose elements are `raw_data` or one of its lists of numbers. Elements in another file
    /// are refused: only a model knows where that lies.
    ///
    /// # Errors
    /// [`ModelError::Malformed`], [`ModelError::ElementType`], [`ModelError::TensorLength`] and
    /// [`ModelError::External`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, onnx::FileTensor};
    ///
    /// // dims [3], data_type INT64, int64_data [1, 2, 3] in the packed form.
    /// let tensor = FileTensor::read(&[0x08, 3, 0x10, 7, 0x3A, 3, 1, 2, 3])?;
    /// assert_eq!((tensor.dtype(), tensor.integers()), (DType::I64, Some(vec![1, 2, 3])));
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn read(bytes: &'a [u8]) -> Result<FileTensor<'a>, ModelError> {
        let tensor = TensorMessage::read(Message::at(bytes, 0))?;
        match ExternalData::of(&tensor)? {
            None => FileTensor::inside(&tensor),
            Some(external) => Err(external.refused("only a model knows where this file lies")),
        }
    }

    /// Reads a file with a `TensorProto`, such as input_0.pb of recorded test data. It has to be a regular file.
    ///
    /// # Errors
    /// [`ModelError::File`]; otherwise as [`FileTensor::read`].
    ///
    /// ```
    /// use wgpu_pooling::onnx::FileTensor;
    ///
    /// let folder = std::path::Path::new("models");
    /// assert_eq!(FileTensor::open(&folder.join("test_maxpool_1d_default_input_0.pb"))?.shape(), [1, 3, 32]);
    /// assert!(FileTensor::open(folder).is_err(), "a folder");
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn open(path: &Path) -> Result<FileTensor<'static>, ModelError> {
        let bytes = files::read(path, "bytes of a tensor", MAX_FILE)?;
        let tensor = FileTensor::read(&bytes)?;
        let name = Cow::Owned(tensor.name.into_owned());
        Ok(FileTensor { name, dtype: tensor.dtype, shape: tensor.shape, bytes: Cow::Owned(tensor.bytes.into_owned()) })
    }

    /// The tensor whose elements lie in its message.
    pub(super) fn inside(tensor: &TensorMessage<'a>) -> Result<FileTensor<'a>, ModelError> {
        let bytes = match tensor.raw {
            Some(raw) => Cow::Borrowed(raw.bytes),
            None => Cow::Owned(listed(tensor)?),
        };
        FileTensor::with_bytes(tensor, bytes)
    }

    /// The tensor with these elements.
    pub(super) fn with_bytes(tensor: &TensorMessage<'a>, bytes: Cow<'a, [u8]>) -> Result<FileTensor<'a>, ModelError> {
        let (dtype, shape, expected) = kind(tensor)?;
        let actual = bytes.len() as u64;
        if actual != expected {
            return Err(ModelError::TensorLength { name: tensor.name.to_owned(), expected, actual });
        }
        Ok(FileTensor { name: Cow::Borrowed(tensor.name), dtype, shape, bytes })
    }

    /// A list of i64.
    pub(super) fn of_integers(values: &[i64]) -> FileTensor<'static> {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        FileTensor { name: Cow::Borrowed(""), dtype: DType::I64, shape: vec![values.len()], bytes: Cow::Owned(bytes) }
    }

    /// An output, to be written.
    pub(super) fn of_output(name: &str, spec: &TensorSpec) -> Result<FileTensor<'static>, ExecuteError> {
        let bytes = zeros(&[&spec.shape[..], &[spec.dtype.bytes()]].concat())?;
        let name = Cow::Owned(name.to_owned());
        Ok(FileTensor { name, dtype: spec.dtype, shape: spec.shape.clone(), bytes: Cow::Owned(bytes) })
    }

    pub(super) fn view_mut(&mut self) -> Result<TensorMut<'_>, PlanError> {
        TensorMut::new(self.dtype, &self.shape, self.bytes.to_mut()).map(TensorMut::fresh)
    }

    /// The name in the file; empty if it has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements as bytes, in row-major order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The elements, if they are integers of 64 or 32 bits.
    pub fn integers(&self) -> Option<Vec<i64>> {
        integers(self.dtype, &self.bytes)
    }

    /// The tensor as the operators take it.
    ///
    /// # Errors
    /// [`ModelError::Plan`] if the number of bytes is not what the shape needs; the readers have checked that it is.
    ///
    /// ```
    /// use wgpu_pooling::onnx::FileTensor;
    ///
    /// let tensor = FileTensor::read(&[0x08, 2, 0x10, 2, 0x4A, 2, 7, 9])?;
    /// assert_eq!(tensor.view()?.bytes(), [7, 9]);
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn view(&self) -> Result<TensorRef<'_>, ModelError> {
        Ok(TensorRef::new(self.dtype, &self.shape, &self.bytes)?)
    }
}

/// The element type, the extents and the number of bytes of a tensor.
pub(super) fn kind(tensor: &TensorMessage<'_>) -> Result<(DType, Vec<usize>, u64), ModelError> {
    let dtype = dtype(tensor.number)?;
    let at = tensor.message.at;
    let shape = tensor.shape().ok_or(ModelError::Malformed { what: "a tensor has a negative extent", at })?;
    // An extent of 0 makes a product of any others 0, but each factor is a length that the host can have.
    let count = shape.iter().try_fold(dtype.bytes() as u64, |product, &extent| product.checked_mul(extent as u64));
    let bytes = count.ok_or(ModelError::Malformed { what: "a tensor has more bytes than 64 bits count", at })?;
    Ok((dtype, shape, bytes))
}

/// The elements of the lists `float_data`, `int32_data`, `int64_data`, `double_data` and `uint64_data`. `int32_data`
/// has the types of up to 32 bits, f16 and bf16 by their bits.
fn listed(tensor: &TensorMessage<'_>) -> Result<Vec<u8>, ModelError> {
    let (dtype, _, expected) = kind(tensor)?;
    let number = match dtype {
        DType::F32 => 4,
        DType::I64 => 7,
        DType::F64 => 10,
        DType::U32 | DType::U64 => 11,
        _ => 5,
    };
    let most = usize::try_from(expected).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    let width = dtype.bytes();
    let mut append = |given: &[u8]| {
        for &byte in given.get(..width).unwrap_or(given) {
            push(&mut bytes, byte, "bytes of a tensor", most)?;
        }
        Ok(())
    };
    for field in tensor.message.numbered(number) {
        let field = field?;
        match number {
            4 => field.each_fixed::<4>(|bytes| append(&bytes))?,
            10 => field.each_fixed::<8>(|bytes| append(&bytes))?,
            _ => field.each_int(|value| append(&value.to_le_bytes()))?,
        }
    }
    Ok(bytes)
}
