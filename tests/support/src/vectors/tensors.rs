//! Tensors without a static type: dtype, shape and little-endian bytes, as files have them.

use std::collections::HashMap;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use wgpu_pooling::{DType, Element, IndexType};

/// A dense tensor of any dtype.
#[derive(Debug, Clone, PartialEq)]
pub struct RawTensor {
    pub dtype: DType,
    pub shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl RawTensor {
    /// A tensor of little-endian bytes, whose number is checked.
    pub fn new(dtype: DType, shape: Vec<usize>, bytes: Vec<u8>) -> Result<Self, String> {
        let expected = shape.iter().product::<usize>() * dtype.bytes();
        if bytes.len() != expected {
            return Err(format!("{dtype:?} of shape {shape:?} needs {expected} bytes, not {}", bytes.len()));
        }
        Ok(RawTensor { dtype, shape, bytes })
    }

    /// The tensor with these elements.
    pub fn of<T: Element>(shape: &[usize], elements: &[T]) -> Self {
        let width = T::DTYPE.bytes();
        let bytes = elements.iter().flat_map(|element| element.to_bits64().to_le_bytes().into_iter().take(width));
        RawTensor { dtype: T::DTYPE, shape: shape.to_vec(), bytes: bytes.collect() }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.bytes.len() / self.dtype.bytes()
    }

    /// The bits of an element, zero-extended.
    pub fn bits(&self, position: usize) -> u64 {
        let width = self.dtype.bytes();
        from_le(&self.bytes[position * width..][..width])
    }

    /// The elements, converted one by one: the bytes of a file are not aligned.
    pub fn elements<T: Element>(&self) -> Vec<T> {
        assert_eq!(self.dtype, T::DTYPE, "elements of another type were asked for");
        self.bytes.chunks_exact(T::DTYPE.bytes()).map(|bytes| T::from_bits64(from_le(bytes))).collect()
    }

    /// The index type that this tensor's dtype is.
    pub fn index_type(&self) -> Result<IndexType, String> {
        match self.dtype {
            DType::I32 => Ok(IndexType::I32),
            DType::I64 => Ok(IndexType::I64),
            other => Err(format!("indices are {}, but only i32 and i64 are index types", other.name())),
        }
    }
}

fn from_le(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// The dtype with a short name such as `bf16`.
pub fn dtype_named(name: &str) -> Result<DType, String> {
    DType::ALL.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| format!("unknown dtype {name:?}"))
}

/// Every tensor of a safetensors file, by name.
pub fn read_safetensors(path: &Path) -> Result<HashMap<String, RawTensor>, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut tensors = HashMap::new();
    for (name, view) in file.iter() {
        let dtype = match view.dtype() {
            Dtype::F32 => DType::F32,
            Dtype::F16 => DType::F16,
            Dtype::BF16 => DType::Bf16,
            Dtype::F64 => DType::F64,
            Dtype::I8 => DType::I8,
            Dtype::U8 => DType::U8,
            Dtype::I16 => DType::I16,
            Dtype::U16 => DType::U16,
            Dtype::I32 => DType::I32,
            Dtype::U32 => DType::U32,
            Dtype::I64 => DType::I64,
            Dtype::U64 => DType::U64,
            other => return Err(format!("{}: {name} has the dtype {other:?}", path.display())),
        };
        let tensor = RawTensor::new(dtype, view.shape().to_vec(), view.data().to_vec())
            .map_err(|error| format!("{}: {name}: {error}", path.display()))?;
        tensors.insert(name.to_owned(), tensor);
    }
    Ok(tensors)
}
