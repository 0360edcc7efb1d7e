//! numpy arrays as the bytes of dense tensors.

use bytemuck::allocation::try_cast_vec;
use numpy::{
    Element as NumpyElement, IntoPyArray, PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadwriteArray1,
    PyUntypedArray, PyUntypedArrayMethods, dtype,
};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wgpu_pooling::{DType, Element};

use crate::error::{Failure, Fallible};

/// The element type by its short name, as `wgpu_pooling._arrays` finds it.
pub(crate) fn dtype_named(name: &str) -> PyResult<DType> {
    let found = DType::ALL.iter().copied().find(|dtype| dtype.name() == name);
    found.ok_or_else(|| PyTypeError::new_err(format!("{name:?} is no element type")))
}

/// The name that numpy has for an element type.
pub(crate) const fn numpy_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "float32",
        DType::F16 => "float16",
        DType::Bf16 => "bfloat16",
        DType::F64 => "float64",
        DType::I8 => "int8",
        DType::U8 => "uint8",
        DType::I16 => "int16",
        DType::U16 => "uint16",
        DType::I32 => "int32",
        DType::U32 => "uint32",
        DType::I64 => "int64",
        DType::U64 => "uint64",
    }
}

/// numpy's type object for an element type. bfloat16 is that of the package ml_dtypes.
pub(crate) fn numpy_dtype(py: Python<'_>, element: DType) -> PyResult<Bound<'_, PyAny>> {
    if element == DType::Bf16 {
        return py.import("ml_dtypes")?.getattr("bfloat16");
    }
    py.import("numpy")?.call_method1(intern!(py, "dtype"), (numpy_name(element),))
}

fn as_bytes<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<u8>>> {
    let py = array.py();
    let flat = array.call_method1(intern!(py, "reshape"), (-1,))?;
    Ok(flat.call_method1(intern!(py, "view"), (dtype::<u8>(py),))?.cast_into()?)
}

/// A C-contiguous array that is read.
pub(crate) struct Input<'py> {
    pub array: Bound<'py, PyAny>,
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub bytes: PyReadonlyArray1<'py, u8>,
}

impl<'py> Input<'py> {
    pub fn new(array: Bound<'py, PyAny>, dtype: DType) -> PyResult<Input<'py>> {
        let shape = array.cast::<PyUntypedArray>()?.shape().to_vec();
        let bytes = as_bytes(&array)?.try_readonly().map_err(|error| PyTypeError::new_err(error.to_string()))?;
        Ok(Input { array, dtype, shape, bytes })
    }
}

/// A fresh array that is written. Nobody else has it yet.
pub(crate) struct Output<'py> {
    pub array: Bound<'py, PyAny>,
    pub bytes: PyReadwriteArray1<'py, u8>,
}

impl<'py> Output<'py> {
    pub fn empty(py: Python<'py>, shape: &[usize], dtype: &Bound<'py, PyAny>) -> PyResult<Output<'py>> {
        let out_of_memory =
            |error: PyErr| PyMemoryError::new_err(format!("out of memory: an array of shape {shape:?}: {error}"));
        let made = py.import("numpy")?.call_method1(intern!(py, "empty"), (PyTuple::new(py, shape)?, dtype));
        let array = made.map_err(out_of_memory)?;
        let bytes = as_bytes(&array)?.try_readwrite().map_err(|error| PyTypeError::new_err(error.to_string()))?;
        Ok(Output { array, bytes })
    }
}

/// Elements as a numpy array of this shape. The vector becomes the array's memory.
pub(crate) fn array_of<'py, T: Element>(
    py: Python<'py>,
    elements: Vec<T>,
    shape: &[usize],
) -> Fallible<Bound<'py, PyAny>> {
    let typed = words_of(py, elements)?.call_method1(intern!(py, "view"), (numpy_dtype(py, T::DTYPE)?,))?;
    Ok(typed.call_method1(intern!(py, "reshape"), (PyTuple::new(py, shape)?,))?)
}

/// Elements as a flat numpy array of unsigned words of their size.
pub(crate) fn words_of<T: Element>(py: Python<'_>, elements: Vec<T>) -> Fallible<Bound<'_, PyAny>> {
    match size_of::<T>() {
        1 => words::<T, u8>(py, elements),
        2 => words::<T, u16>(py, elements),
        4 => words::<T, u32>(py, elements),
        _ => words::<T, u64>(py, elements),
    }
}

fn words<T: Element, W: NumpyElement + bytemuck::Pod>(py: Python<'_>, elements: Vec<T>) -> Fallible<Bound<'_, PyAny>> {
    let cast = try_cast_vec::<T, W>(elements);
    let words = cast.map_err(|(error, _)| Failure::from(PyTypeError::new_err(error.to_string())))?;
    Ok(words.into_pyarray(py).into_any())
}
