//! What Python calls of a GPU.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wgpu_pooling::wgpu::{AdapterInfo, Backends, DeviceType, PowerPreference};
use wgpu_pooling::{Backend, Gpu, GpuOptions, Layout, PlanError, TensorRef, list_adapters_blocking};

use crate::arrays::{Input, dtype_named};
use crate::device_tensor::PyDeviceTensor;
use crate::error::{Fallible, guarded};
use crate::fork::Opened;
use crate::gpu::PyGpu;
use crate::operators::text;

fn unknown(attribute: &'static str, value: &str, expected: &'static str) -> PlanError {
    PlanError::UnknownValue { attribute, value: value.to_owned(), expected }
}

fn options(name: Option<String>, backend: Option<&str>, power: Option<&str>) -> Fallible<GpuOptions> {
    let mut options = GpuOptions::new();
    if let Some(name) = name {
        options = options.adapter_name(name);
    }
    if let Some(backend) = backend {
        options = options.backends(match backend {
            "vulkan" => Backends::VULKAN,
            "metal" => Backends::METAL,
            "dx12" => Backends::DX12,
            "gl" => Backends::GL,
            other => return Err(unknown("backend", other, "vulkan, metal, dx12, gl").into()),
        });
    }
    match power {
        None => Ok(options),
        Some("high") => Ok(options.power_preference(PowerPreference::HighPerformance)),
        Some("low") => Ok(options.power_preference(PowerPreference::LowPower)),
        Some(other) => Err(unknown("power_preference", other, "high, low").into()),
    }
}

const fn kind(info: &AdapterInfo) -> &'static str {
    match info.device_type {
        DeviceType::DiscreteGpu => "discrete",
        DeviceType::IntegratedGpu => "integrated",
        DeviceType::VirtualGpu => "virtual",
        DeviceType::Cpu => "software",
        DeviceType::Other => "other",
    }
}

#[pymethods]
impl PyGpu {
    #[new]
    #[pyo3(signature = (adapter_name=None, backend=None, *, power_preference=None))]
    fn new(
        py: Python<'_>,
        adapter_name: Option<&Bound<'_, PyAny>>,
        backend: Option<&Bound<'_, PyAny>>,
        power_preference: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PyGpu> {
        guarded(py, || {
            let given =
                |argument, value: Option<&Bound<'_, PyAny>>| value.map(|value| text(argument, value)).transpose();
            let (backend, power) = (given("backend", backend)?, given("power_preference", power_preference)?);
            let options = options(given("adapter_name", adapter_name)?, backend.as_deref(), power.as_deref())?;
            let gpu = py.detach(|| Gpu::open_blocking(&options))?;
            let info = gpu.adapter_info();
            let description = gpu.name();
            Ok(PyGpu { gpu: Opened::new(gpu), info, description })
        })
    }

    /// The adapter's name.
    #[getter]
    fn name(&self) -> &str {
        &self.info.name
    }

    /// The backend: "vulkan", "metal", "dx12" or "gl".
    #[getter]
    fn backend(&self) -> String {
        self.info.backend.to_string()
    }

    /// What the adapter is: "discrete", "integrated", "virtual", "software" or "other".
    #[getter]
    fn kind(&self) -> &'static str {
        kind(&self.info)
    }

    /// The driver's name and version.
    #[getter]
    fn driver(&self) -> String {
        format!("{} {}", self.info.driver, self.info.driver_info)
    }

    /// Copies a tensor to the Gpu, where it stays.
    ///
    /// `x` is anything that the functions of this package take; `layout` says where its channels are, "NCHW" or "NHWC".
    /// Raises TypeError for what is no tensor, and MemoryError.
    #[pyo3(signature = (x, layout=None), text_signature = "($self, x, layout='NCHW')")]
    fn upload<'py>(
        slf: &Bound<'py, PyGpu>,
        x: &Bound<'py, PyAny>,
        layout: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<PyDeviceTensor> {
        let py = slf.py();
        guarded(py, || {
            let layout = match layout {
                Some(layout) => text("layout", layout)?.parse()?,
                None => Layout::Nchw,
            };
            let gpu = slf.get().opened(py)?;
            let dense = py.import("wgpu_pooling._arrays")?.call_method1("dense", (x, "x"))?;
            let (array, dtype): (Bound<'py, PyAny>, String) = dense.extract()?;
            let input = Input::new(array, dtype_named(&dtype)?)?;
            let bytes = input.bytes.as_slice().map_err(PyErr::from)?;
            let x = TensorRef::new(input.dtype, &input.shape, bytes)?;
            let tensor = py.detach(|| gpu.upload_blocking(x, layout))?;
            Ok(PyDeviceTensor::new(tensor, slf.clone().unbind()))
        })
    }

    /// Marks the Gpu as lost: every later call that needs it raises DeviceError with this reason. For programs that
    /// know of a loss before the driver does, and for trying what they do after one. Raises DeviceError in a forked
    /// child.
    fn notify_lost(&self, py: Python<'_>, reason: &Bound<'_, PyAny>) -> PyResult<()> {
        guarded(py, || {
            self.opened(py)?.loss_notifier()(text("reason", reason)?);
            Ok(())
        })
    }

    /// Whether the Gpu is known to be lost: every call that needs it raises DeviceError.
    #[getter]
    fn is_lost(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.opened(py)?.is_lost())
    }

    /// Frees the memory that finished calls left for later ones.
    fn trim(&self, py: Python<'_>) -> PyResult<()> {
        guarded(py, || {
            let gpu = self.opened(py)?;
            py.detach(|| gpu.trim());
            Ok(())
        })
    }

    /// The bytes that finished calls left for later ones.
    #[getter]
    fn idle_bytes(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.opened(py)?.idle_bytes())
    }

    fn __repr__(&self) -> String {
        format!("<Gpu {}>", self.description)
    }

    fn __reduce__<'py>(slf: &Bound<'py, PyGpu>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let this = slf.get();
        let arguments = PyTuple::new(slf.py(), [this.info.name.clone(), this.info.backend.to_string()])?;
        Ok((slf.get_type().into_any(), arguments))
    }
}

/// The adapters of this machine, each as its name, backend, kind and driver.
#[pyfunction]
pub(crate) fn adapters(py: Python<'_>) -> PyResult<Vec<(String, String, &'static str, String)>> {
    guarded(py, || {
        let found = py.detach(|| list_adapters_blocking(&GpuOptions::new()));
        let line = |info: &AdapterInfo| {
            let driver = format!("{} {}", info.driver, info.driver_info);
            (info.name.clone(), info.backend.to_string(), kind(info), driver)
        };
        Ok(found.iter().map(line).collect())
    })
}
