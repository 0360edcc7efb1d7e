//! GPUs as Python holds them.

use pyo3::prelude::*;
use wgpu_pooling::Gpu;
use wgpu_pooling::wgpu::AdapterInfo;

use crate::fork::Opened;

/// An open GPU. Any number of threads can use it at once. It belongs to the process that opened it: in a forked child
/// every call raises DeviceError, and the child opens its own. Pickling keeps the adapter's name and backend, and opens
/// it again.
///
/// `adapter_name` is a part of the adapter's name, ignoring case; `backend` one of "vulkan", "metal", "dx12" and "gl";
/// `power_preference` "high" or "low". Without them the environment variables WGPU_ADAPTER_NAME, WGPU_BACKEND and
/// WGPU_POWER_PREF decide, and then the fastest adapter is taken.
///
/// Raises DeviceError if there is no such adapter, and PlanError for an unknown backend or power preference.
#[pyclass(name = "Gpu", module = "wgpu_pooling", frozen, weakref)]
pub(crate) struct PyGpu {
    pub gpu: Opened<Gpu>,
    pub info: AdapterInfo,
    pub description: String,
}

impl PyGpu {
    /// The crate's own handle, in the process that opened it.
    pub fn opened(&self, py: Python<'_>) -> PyResult<&Gpu> {
        self.gpu.get(py)
    }

    pub fn adapter_name(&self) -> &str {
        &self.info.name
    }
}
