//! Plans on arrays of the host and on tensors of a device.

use std::marker::PhantomData;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use wgpu_pooling::{
    AsTensor, DType, DeviceTensor, Element, ExecuteError, Gpu, Index, IndexSpace, IndexType, PeaksRequest, Plan,
    PlanError, Pooling, Prepare, Request, TensorMut, TensorRef,
};

use crate::arrays::{Input, Output, array_of, dtype_named, numpy_dtype, words_of};
use crate::device_tensor::PyDeviceTensor;
use crate::error::Fallible;
use crate::gpu::PyGpu;
use crate::watch::{find, run, until_signal};

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

    /// The array; `None` for a tensor of a device.
    pub fn host(&self) -> Option<&Input<'py>> {
        match self {
            Operand::Host(input) => Some(input),
            Operand::Device(_) => None,
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

/// A new array. It has the type object of x where they have one type, so that it stays the caller's, and ml_dtypes is
/// not needed.
fn output<'py>(py: Python<'py>, x: Option<&Input<'py>>, shape: &[usize], dtype: DType) -> PyResult<Output<'py>> {
    let dtype = match x {
        Some(x) if x.dtype == dtype => x.array.getattr(pyo3::intern!(py, "dtype"))?,
        _ => numpy_dtype(py, dtype)?,
    };
    Output::empty(py, shape, &dtype)
}

fn on_arrays<'py>(
    py: Python<'py>,
    plan: &Plan,
    gpu: Option<&Bound<'py, PyGpu>>,
    inputs: &[Input<'py>],
) -> Fallible<Vec<Bound<'py, PyAny>>> {
    let mut outputs = Vec::new();
    for spec in plan.outputs() {
        outputs.push(output(py, inputs.first(), &spec.shape, spec.dtype)?);
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
    let made = py.detach(|| step(opened, plan, &on_device))?;
    let wrap = |tensor| Ok(Bound::new(py, PyDeviceTensor::new(tensor, gpu.clone().unbind()))?.into_any());
    made.into_iter().map(wrap).collect()
}

/// One step, submitted by itself. Only what can meet bad indices waits for the device.
fn step(gpu: &Gpu, plan: Plan, tensors: &[&DeviceTensor]) -> Fallible<Vec<DeviceTensor>> {
    let prepared = gpu.prepare_blocking(Prepare::from(plan).cached())?;
    let mut chain = gpu.chain();
    let plan = prepared.schedule().plan();
    let made = match plan.outputs() {
        [_, _] => chain.step::<2>(&prepared, tensors)?.into(),
        _ => chain.step::<1>(&prepared, tensors)?.into(),
    };
    match plan {
        Plan::Unpool(_) => drop(until_signal(chain.run())?),
        _ => drop(chain.submit()?),
    }
    Ok(made)
}

/// A tensor whose elements were found to be of the type `T`.
struct Typed<'a, T>(TensorRef<'a>, PhantomData<T>);

impl<'a, T: Element> Typed<'a, T> {
    fn of(input: &'a Input<'_>) -> Fallible<Typed<'a, T>> {
        let bytes = input.bytes.as_slice().map_err(PyErr::from)?;
        Ok(Typed(TensorRef::new(input.dtype, &input.shape, bytes)?, PhantomData))
    }
}

impl<'a, T: Element> AsTensor<'a> for Typed<'a, T> {
    type Element = T;

    fn tensor(self) -> Result<TensorRef<'a>, PlanError> {
        Ok(self.0)
    }
}

/// What is asked for of peaks: bits of the threshold, rule of plateaus, border, least distance, and their number.
pub(crate) type Wishes = (Option<u64>, String, Option<Vec<usize>>, usize, Option<usize>);

/// The positions of the peaks of an array, an array of one axis for all, and their values as unsigned words. With Y
/// the pool has been computed before.
pub(crate) fn found<'py, T: Element>(
    py: Python<'py>,
    pool: &dyn Pooling,
    gpu: Option<&Bound<'py, PyGpu>>,
    [x, y]: [Option<&Input<'py>>; 2],
    (threshold, plateaus, border, min_distance, largest): Wishes,
) -> Fallible<[Bound<'py, PyAny>; 2]> {
    let Some(x) = x else { return Err(PyTypeError::new_err("x is on a device, expected an array").into()) };
    let mut peaks = Request::pool(pool, Typed::<T>::of(x)?).peaks().plateaus(plateaus.parse()?);
    peaks = threshold.into_iter().fold(peaks, |peaks, bits| peaks.threshold(T::from_bits64(bits)));
    peaks = border.into_iter().fold(peaks, PeaksRequest::exclude_border);
    peaks = largest.into_iter().fold(peaks.min_distance(min_distance), PeaksRequest::largest);
    let peaks = match y {
        Some(y) => {
            let y = Typed::<T>::of(y)?;
            py.detach(|| peaks.of_y(y))?
        }
        None => {
            let plan = pool.plan(&x.shape, x.dtype, None)?;
            find(py, gpu.map(|gpu| gpu.get().opened(py)).transpose()?, &plan, peaks)?
        }
    };
    let positions: Vec<i64> = peaks.positions().iter().map(|&coordinate| coordinate as i64).collect();
    let count = positions.len();
    Ok([array_of(py, positions, &[count])?, words_of(py, peaks.values().to_vec())?])
}

/// Converts indices on the host: an array to an array, a tensor of a device to a tensor of the same.
pub(crate) fn converted<'py, F: Index, T: Index>(
    py: Python<'py>,
    from: &IndexSpace,
    to: &IndexSpace,
    gpu: Option<&Bound<'py, PyGpu>>,
    indices: &Operand<'py>,
) -> Fallible<Bound<'py, PyAny>> {
    let opened = gpu.map(|gpu| gpu.get().opened(py)).transpose()?;
    match (indices, gpu, opened) {
        (Operand::Host(input), ..) => {
            let indices = Typed::<F>::of(input)?;
            let converted = py.detach(|| from.convert::<T>(to, indices))?;
            let mut output = output(py, Some(input), converted.shape(), T::DTYPE)?;
            let bytes = output.bytes.as_slice_mut().map_err(PyErr::from)?;
            bytes.copy_from_slice(bytemuck::cast_slice(converted.data()));
            Ok(output.array)
        }
        (Operand::Device(tensor), Some(gpu), Some(opened)) => {
            let tensor = tensor.get().on_device(py)?;
            let (what, expected, actual) = ("indices", from.layout(), tensor.layout());
            if expected != actual {
                return Err(ExecuteError::LayoutMismatch { what, expected, actual }.into());
            }
            tensor.index_space().map_or(Ok(()), |counted| from.check_indices(counted))?;
            let made = py.detach(|| {
                let indices = until_signal(opened.download::<F>(tensor))?;
                let converted = from.convert::<T>(to, &indices)?;
                Fallible::Ok(opened.upload_blocking(&converted, to.layout())?.with_index_space(to.clone()))
            })?;
            Ok(Bound::new(py, PyDeviceTensor::new(made, gpu.clone().unbind()))?.into_any())
        }
        _ => Err(PyTypeError::new_err("a tensor of a device is computed on its own device, not on the CPU").into()),
    }
}
