//! What the Python package `wgpu_pooling` calls: its functions on numpy arrays and on tensors of a GPU, over
//! `wgpu-pooling`.
//!
//! | file | contents |
//! | --- | --- |
//! | `calls.rs` | the functions that Python sees |
//! | `operators.rs` | keyword arguments to operators, which say what is wrong with them |
//! | `compute.rs` | plans on arrays and on tensors of a device |
//! | `watch.rs` | computing without the GIL, and stopping at a signal |
//! | `arrays.rs` | numpy arrays as bytes, without a copy |
//! | `gpu.rs`, `gpu_methods.rs`, `device_tensor.rs` | GPUs and their tensors as Python's objects |
//! | `fork.rs` | what must not be touched in a forked child |
//! | `error.rs` | errors as Python's exceptions |
//!
//! The operators for onnxruntime are in the crate `onnxruntime` beside this one.
//!
//! What a user sees is documented in the Python files, beside the types.

mod arrays;
mod calls;
mod compute;
mod device_tensor;
mod error;
mod fork;
mod gpu;
mod gpu_methods;
mod operators;
mod watch;

use pyo3::prelude::*;

// onnxruntime finds its entry point in this library.
pub use wgpu_pooling_onnxruntime::RegisterCustomOps;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::calls::{composition, convert, inverse, peaks, pool, unpool};
    #[pymodule_export]
    use super::device_tensor::PyDeviceTensor;
    #[pymodule_export]
    use super::gpu::PyGpu;
    #[pymodule_export]
    use super::gpu_methods::adapters;
    use super::*;

    #[pymodule_init]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        super::fork::imported();
        Ok(())
    }
}
