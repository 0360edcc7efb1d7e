//! The functions that `wgpu_pooling`'s Python files call. Arrays come C-contiguous and in the machine's byte order,
//! each with the short name of its element type.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use wgpu_pooling::{ExecuteError, IndexType};

use crate::compute::{Operand, Wishes, compute, converted, found};
use crate::error::{Fallible, guarded};
use crate::gpu::PyGpu;
use crate::operators::{self, Keywords};

type Device<'a, 'py> = Option<&'a Bound<'py, PyGpu>>;
/// An array or a tensor of a device, and the short name of an array's element type.
type Tensor<'py> = (Bound<'py, PyAny>, String);

/// The maxima of x, and where they are if an index type is given.
#[pyfunction]
pub(crate) fn pool<'py>(
    py: Python<'py>,
    operator: &str,
    preset: &Bound<'py, PyAny>,
    keywords: &Bound<'py, PyDict>,
    indices: Option<&Bound<'py, PyAny>>,
    device: Device<'_, 'py>,
    x: Tensor<'py>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    guarded(py, || {
        let pool = operators::pool(operator, &operators::text("preset", preset)?, Keywords::read(keywords)?)?;
        let indices = indices.map(|name| operators::index_type("indices", name)).transpose()?;
        let x = Operand::new(x.0, &x.1)?;
        let plan = pool.plan(&x.shape()?, x.dtype()?, indices)?;
        compute(py, plan, device, vec![x])
    })
}

/// A composition of dilation and erosion.
#[pyfunction]
pub(crate) fn composition<'py>(
    py: Python<'py>,
    operator: &str,
    keywords: &Bound<'py, PyDict>,
    device: Device<'_, 'py>,
    x: Tensor<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(py, || {
        let x = Operand::new(x.0, &x.1)?;
        let plan = operators::composition(operator, Keywords::read(keywords)?, &x.shape()?, x.dtype()?)?;
        only(compute(py, plan, device, vec![x])?)
    })
}

/// The peaks of the array x by this pool, whose Y is computed if it is not given.
#[pyfunction]
pub(crate) fn peaks<'py>(
    py: Python<'py>,
    operator: &str,
    keywords: &Bound<'py, PyDict>,
    wishes: Wishes,
    device: Device<'_, 'py>,
    x: Tensor<'py>,
    y: Option<Tensor<'py>>,
) -> PyResult<[Bound<'py, PyAny>; 2]> {
    guarded(py, || {
        let pool = operators::pool(operator, "onnx", Keywords::read(keywords)?)?;
        let x = Operand::new(x.0, &x.1)?;
        let y = y.map(|y| Operand::new(y.0, &y.1)).transpose()?;
        let operands = [x.host(), y.as_ref().and_then(Operand::host)];
        wgpu_pooling::with_element!(x.dtype()?, T => found::<T>(py, &*pool, device, operands, wishes))
    })
}

/// The output of what has one.
fn only<'py>(mut outputs: Vec<Bound<'py, PyAny>>) -> Fallible<Bound<'py, PyAny>> {
    match outputs.pop() {
        Some(output) => Ok(output),
        None => Err(ExecuteError::Device("the plan has no output".to_owned()).into()),
    }
}

/// The values of x at the positions that indices name.
#[pyfunction]
pub(crate) fn unpool<'py>(
    py: Python<'py>,
    preset: &Bound<'py, PyAny>,
    keywords: &Bound<'py, PyDict>,
    device: Device<'_, 'py>,
    x: Tensor<'py>,
    indices: Tensor<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(py, || {
        let unpool = operators::unpool(&operators::text("preset", preset)?, Keywords::read(keywords)?)?;
        unpooled(py, &unpool, device, x, indices)
    })
}

/// The maxima of a pool back at their positions.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "Python's call has as many")]
pub(crate) fn inverse<'py>(
    py: Python<'py>,
    operator: &str,
    preset: &Bound<'py, PyAny>,
    keywords: &Bound<'py, PyDict>,
    unpool: &Bound<'py, PyDict>,
    input_shape: &Bound<'py, PyAny>,
    device: Device<'_, 'py>,
    x: Tensor<'py>,
    indices: Tensor<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(py, || {
        let pool = operators::pool(operator, &operators::text("preset", preset)?, Keywords::read(keywords)?)?;
        let input_shape = operators::extents("input_shape", input_shape)?;
        let unpool = operators::inverse(&*pool, &input_shape, Keywords::read(unpool)?)?;
        unpooled(py, &unpool, device, x, indices)
    })
}

fn unpooled<'py>(
    py: Python<'py>,
    unpool: &wgpu_pooling::MaxUnpool,
    device: Device<'_, 'py>,
    x: Tensor<'py>,
    indices: Tensor<'py>,
) -> Fallible<Bound<'py, PyAny>> {
    let (x, indices) = (Operand::new(x.0, &x.1)?, Operand::new(indices.0, &indices.1)?);
    let plan = unpool.plan(&x.shape()?, x.dtype()?, indices.index_type()?)?;
    only(compute(py, plan, device, vec![x, indices])?)
}

/// Indices in another convention.
#[pyfunction]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    source: &Bound<'py, PyDict>,
    target: &Bound<'py, PyDict>,
    to: Option<&Bound<'py, PyAny>>,
    device: Device<'_, 'py>,
    indices: Tensor<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    guarded(py, || {
        let shape = operators::extents("shape", shape)?;
        wgpu_pooling::element_count(&shape)?;
        let from = operators::index_space(&shape, Keywords::read(source)?)?;
        let into = operators::index_space(&shape, Keywords::read(target)?)?;
        let indices = Operand::new(indices.0, &indices.1)?;
        let index_type = indices.index_type()?;
        let to = to.map(|name| operators::index_type("to", name)).transpose()?.unwrap_or(index_type);
        match (index_type, to) {
            (IndexType::I32, IndexType::I32) => converted::<i32, i32>(py, &from, &into, device, &indices),
            (IndexType::I32, IndexType::I64) => converted::<i32, i64>(py, &from, &into, device, &indices),
            (IndexType::I64, IndexType::I32) => converted::<i64, i32>(py, &from, &into, device, &indices),
            (IndexType::I64, IndexType::I64) => converted::<i64, i64>(py, &from, &into, device, &indices),
        }
    })
}
