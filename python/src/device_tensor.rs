//! Tensors that stay on a GPU.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use wgpu_pooling::{DeviceTensor, with_element};

use crate::arrays::{array_of, numpy_name};
use crate::error::guarded;
use crate::fork::Opened;
use crate::gpu::PyGpu;
use crate::watch::until_signal;

/// A tensor in the memory of a Gpu. `Gpu.upload` and calls on such tensors make them; every function of this package
/// takes them in place of arrays, and their results stay on the Gpu.
///
/// >>> import numpy as np, wgpu_pooling as wp
/// >>> gpu = wp.Gpu()  # doctest: +SKIP
/// >>> x = gpu.upload(np.array([[[3.0, 1.0, 2.0, 9.0]]], np.float32))  # doctest: +SKIP
/// >>> wp.max_pool(x, kernel_shape=[2], strides=[2]).numpy()  # doctest: +SKIP
/// array([[[3., 9.]]], dtype=float32)
#[pyclass(name = "DeviceTensor", module = "wgpu_pooling", frozen)]
pub(crate) struct PyDeviceTensor {
    tensor: Opened<DeviceTensor>,
    gpu: Py<PyGpu>,
}

impl PyDeviceTensor {
    pub fn new(tensor: DeviceTensor, gpu: Py<PyGpu>) -> PyDeviceTensor {
        PyDeviceTensor { tensor: Opened::new(tensor), gpu }
    }

    pub fn on_device(&self, py: Python<'_>) -> PyResult<&DeviceTensor> {
        self.tensor.get(py)
    }
}

#[pymethods]
impl PyDeviceTensor {
    /// The extents, outermost first.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.on_device(py)?.shape())
    }

    /// The number of axes.
    #[getter]
    fn ndim(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.on_device(py)?.shape().len())
    }

    /// The element type by its name in numpy, such as "float32".
    #[getter]
    fn dtype(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(numpy_name(self.on_device(py)?.dtype()))
    }

    /// The layout, "NCHW" or "NHWC": where the channels are.
    #[getter]
    fn layout(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(self.on_device(py)?.layout().name())
    }

    /// The bytes that the tensor occupies on the Gpu.
    #[getter]
    fn nbytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.on_device(py)?.bytes())
    }

    /// The Gpu that has the tensor.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<PyGpu> {
        self.gpu.clone_ref(py)
    }

    /// A copy of the tensor as a numpy array. bfloat16 needs the package ml_dtypes.
    ///
    /// Raises DeviceError if the Gpu is lost, and MemoryError.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        guarded(py, || {
            let gpu = self.gpu.bind(py).get().opened(py)?;
            let tensor = self.on_device(py)?;
            with_element!(tensor.dtype(), T => {
                let host = py.detach(|| until_signal(gpu.download::<T>(tensor)))?;
                array_of(py, host.into_data(), tensor.shape())
            })
        })
    }

    /// Raises TypeError. Without it numpy would make an array of one object.
    #[pyo3(signature = (*_given, **_named))]
    fn __array__(&self, _given: &Bound<'_, PyTuple>, _named: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(PyTypeError::new_err("a DeviceTensor is on a Gpu: its numpy() copies it to an array"))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let gpu = self.gpu.bind(py).get().adapter_name();
        // A debugger and a traceback show tensors in forked children too.
        self.tensor.anywhere().map_or_else(String::new, |tensor| {
            let (shape, dtype, layout) = (tensor.shape(), numpy_name(tensor.dtype()), tensor.layout());
            format!("<DeviceTensor {dtype} {shape:?} {layout} on {gpu}>")
        })
    }
}
