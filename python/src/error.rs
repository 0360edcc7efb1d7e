//! Errors of the crate as Python has them: the class that fits, with the crate's own text.

use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use wgpu_pooling::{ExecuteError, PlanError};

/// Why a call has no result: an error of the crate, or an exception that is raised already, such as KeyboardInterrupt.
pub(crate) enum Failure {
    Crate(ExecuteError),
    Python(PyErr),
}

pub(crate) type Fallible<T> = Result<T, Failure>;

impl From<ExecuteError> for Failure {
    fn from(error: ExecuteError) -> Failure {
        Failure::Crate(error)
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Failure {
        Failure::Crate(error.into())
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Python(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Crate(error) => Python::attach(|py| raised(py, &error)),
            Failure::Python(error) => error,
        }
    }
}

/// A class of `wgpu_pooling._errors`, where those that are not built into Python are defined.
#[derive(Clone, Copy)]
enum Class {
    Pooling,
    Plan,
    Device,
}

fn exception(py: Python<'_>, class: Class, text: String) -> PyErr {
    static CLASSES: [PyOnceLock<Py<PyType>>; 3] = [PyOnceLock::new(), PyOnceLock::new(), PyOnceLock::new()];
    let name = match class {
        Class::Pooling => "PoolingError",
        Class::Plan => "PlanError",
        Class::Device => "DeviceError",
    };
    match CLASSES[class as usize].import(py, "wgpu_pooling._errors", name) {
        Ok(class) => PyErr::from_type(class.clone(), (text,)),
        Err(error) => error,
    }
}

/// A `DeviceError` with this text.
pub(crate) fn device_error(py: Python<'_>, text: String) -> PyErr {
    exception(py, Class::Device, text)
}

/// A `PlanError` with this text.
pub(crate) fn plan_error(py: Python<'_>, text: String) -> PyErr {
    exception(py, Class::Plan, text)
}

fn raised(py: Python<'_>, error: &ExecuteError) -> PyErr {
    let text = error.to_string();
    let mut cause = error;
    while let ExecuteError::InChain { error, .. } = cause {
        cause = error;
    }
    match cause {
        ExecuteError::Plan(PlanError::AttributeKind { .. } | PlanError::OperandType { .. })
        | ExecuteError::TypeMismatch { .. }
        | ExecuteError::ReadBackType { .. } => PyTypeError::new_err(text),
        ExecuteError::Plan(_)
        | ExecuteError::ShapeMismatch { .. }
        | ExecuteError::LayoutMismatch { .. }
        | ExecuteError::OperatorMismatch { .. }
        | ExecuteError::OtherGpu { .. } => exception(py, Class::Plan, text),
        ExecuteError::IndexOutOfRange { .. }
        | ExecuteError::IndexOutsideWindow { .. }
        | ExecuteError::IndexNotInPlane { .. } => PyIndexError::new_err(text),
        ExecuteError::OutOfMemory(_) => PyMemoryError::new_err(text),
        ExecuteError::NoAdapter(_)
        | ExecuteError::NoDevice(_)
        | ExecuteError::DeviceLost(_)
        | ExecuteError::Device(_) => exception(py, Class::Device, text),
        _ => exception(py, Class::Pooling, text),
    }
}

/// Runs a call so that a panic, which is a defect, becomes a `PoolingError` with the panic's text.
pub(crate) fn guarded<T>(py: Python<'_>, call: impl FnOnce() -> Fallible<T>) -> PyResult<T> {
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no text");
        Err(exception(py, Class::Pooling, format!("this is a defect of wgpu_pooling: {text}")).into())
    });
    outcome.map_err(PyErr::from)
}
