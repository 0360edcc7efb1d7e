//! Plans on arrays of the host and on tensors of a device.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use wgpu_pooling::{DType, DeviceTensor, Gpu, IndexType, Plan, Prepare, TensorMut, TensorRef};

use crate::arrays::{Input, Output, dtype_named, numpy_dtype};
use crate::device_tensor::PyDeviceTensor;
use crate::error::Fallible;
use crate::gpu::PyGpu;
use crate::watch::{run, until_signal};

/// A tensor that a call reads.
pub(crate) enum Operand<'py> {
    Host(Input<'py>),
    Device(Bound<'py, PyDeviceTensor>),
}

impl<'py> Operand<'py> {
    /// An array whose element type has this short name, or a tensor of a device, which knows its own.
    pub fn new(x: Bound<'py, PyAny>, dtype: &str) -> PyResult<Operand<'py>> {
        match x.cast_into::<PyDeviceTensor>() {
            Ok(tensor) => Ok(Operand::Device(tensor)),
            Err(error) => Ok(Operand::Host(Input::new(error.into_inner(), dtype_named(dtype)?)?)),
        }
    }

    pub fn shape(&self) -> PyResult<Vec<usize>> {
        match self {
            Operand::Host(input) => Ok(input.shape.clone()),
            Operand::Device(tensor) => Ok(tensor.get().on_device(tensor.py())?.shape().to_vec()),
        }
    }

    pub fn dtype(&self) -> PyResult<DType> {
        match self {
            Operand::Host(input) => Ok(input.dtype),
            Operand::Device(tensor) => Ok(tensor.get().on_device(tensor.py())?.dtype()),
        }
    }

    /// The type of indices, which have one of two types.
    pub fn index_type(&self) -> PyResult<IndexType> {
        match self.dtype()? {
            DType::I32 => Ok(IndexType::I32),
            DType::I64 => Ok(IndexType::I64),
            other => {
                let name = crate::arrays::numpy_name(other);
                Err(PyTypeError::new_err(format!("indices are of type {name}, expected int32 or int64")))
            }
        }
    }
}

/// Computes a plan: arrays to arrays, on the CPU unless there is a GPU; tensors of a device to tensors of the same.
pub(crate) fn compute<'py>(
    py: Python<'py>,
    plan: Plan,
    gpu: Option<&Bound<'py, PyGpu>>,
    operands: Vec<Operand<'py>>,
) -> Fallible<Vec<Bound<'py, PyAny>>> {
    let (mut arrays, mut tensors) = (Vec::new(), Vec::new());
    for operand in operands {
        match operand {
            Operand::Host(input) => arrays.push(input),
            Operand::Device(tensor) => tensors.push(tensor),
        }
    }
    match (&arrays[..], &tensors[..]) {
        (inputs, []) => on_arrays(py, &plan, gpu, inputs),
        ([], tensors) => on_tensors(py, plan, gpu, tensors),
        _ => Err(PyTypeError::new_err("x and indices are of two kinds: one is on a device, the other is not").into()),
    }
}

fn on_arrays<'py>(
    py: Python<'py>,
    plan: &Plan,
    gpu: Option<&Bound<'py, PyGpu>>,
    inputs: &[Input<'py>],
) -> Fallible<Vec<Bound<'py, PyAny>>> {
    let mut outputs = Vec::new();
    for spec in plan.outputs() {
        // Y has the type object of X, so that it stays the caller's, and ml_dtypes is not needed.
        let dtype = match inputs.first() {
            Some(x) if x.dtype == spec.dtype => x.array.getattr(pyo3::intern!(py, "dtype"))?,
            _ => numpy_dtype(py, spec.dtype)?,
        };
        outputs.push(Output::empty(py, &spec.shape, &dtype)?);
    }
    let mut read = Vec::new();
    for input in inputs {
        let bytes = input.bytes.as_slice().map_err(PyErr::from)?;
        read.push(TensorRef::new(input.dtype, &input.shape, bytes)?);
    }
    let mut written = Vec::new();
    for (output, spec) in outputs.iter_mut().zip(plan.outputs()) {
        let bytes = output.bytes.as_slice_mut().map_err(PyErr::from)?;
        // The arrays are new, and go with an error.
        written.push(TensorMut::new(spec.dtype, &spec.shape, bytes)?.fresh());
    }
    let gpu = gpu.map(|gpu| gpu.get().opened(py)).transpose()?;
    run(py, gpu, plan, &read, &mut written)?;
    drop(written);
    Ok(outputs.into_iter().map(|output| output.array).collect())
}

fn on_tensors<'py>(
    py: Python<'py>,
    plan: Plan,
    gpu: Option<&Bound<'py, PyGpu>>,
    tensors: &[Bound<'py, PyDeviceTensor>],
) -> Fallible<Vec<Bound<'py, PyAny>>> {
    let Some(gpu) = gpu else {
        return Err(PyTypeError::new_err("a tensor of a device is computed on its own device, not on the CPU").into());
    };
    let opened = gpu.get().opened(py)?;
    let on_device: Vec<&DeviceTensor> =
        tensors.iter().map(|tensor| tensor.get().on_device(py)).collect::<PyResult<_>>()?;
    let made = py.detach(|| steps(opened, plan, &on_device))?;
    let wrap = |tensor| Ok(Bound::new(py, PyDeviceTensor::new(tensor, gpu.clone().unbind()))?.into_any());
    made.into_iter().map(wrap).collect()
}

/// One step, submitted by itself. Only what can meet bad indices waits for the device.
fn steps(gpu: &Gpu, plan: Plan, tensors: &[&DeviceTensor]) -> Fallible<Vec<DeviceTensor>> {
    let prepared = gpu.prepare_blocking(Prepare::from(plan).cached())?;
    let mut chain = gpu.chain();
    let plan = prepared.schedule().plan();
    let made = match plan.outputs() {
        [_, _] => chain.step::<2>(&prepared, tensors)?.into(),
        _ => chain.step::<1>(&prepared, tensors)?.into(),
    };
    match plan {
        Plan::Pool(_) => drop(chain.submit()?),
        _ => drop(until_signal(chain.run())?),
    }
    Ok(made)
}
