//! Adapters: those that a command line selects, and the description of an adapter in a line.

use clap::ValueEnum;
use wgpu_pooling::GpuOptions;
use wgpu_pooling::wgpu::{AdapterInfo, Backends};

use crate::common::one_line;

/// What to compute on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    Auto,
    Vulkan,
    Metal,
    Dx12,
    Gl,
    Cpu,
}

impl Backend {
    /// The wgpu backends of this choice; `None` leaves the choice to the environment and to the adapters that exist.
    pub fn backends(self) -> Option<Backends> {
        match self {
            Backend::Auto => None,
            Backend::Vulkan => Some(Backends::VULKAN),
            Backend::Metal => Some(Backends::METAL),
            Backend::Dx12 => Some(Backends::DX12),
            Backend::Gl => Some(Backends::GL),
            Backend::Cpu => Some(Backends::empty()),
        }
    }
}

/// Which adapters the library may open.
pub fn gpu_options(backend: Backend, adapter: Option<&str>) -> GpuOptions {
    let options = GpuOptions::new();
    let options = match backend.backends() {
        Some(backends) => options.backends(backends),
        None => options,
    };
    match adapter {
        Some(name) => options.adapter_name(name),
        None => options,
    }
}

/// An adapter in a line.
pub fn describe(adapter: &AdapterInfo) -> String {
    let AdapterInfo { name, backend, device_type, driver, driver_info, .. } = adapter;
    one_line(&format!("{name}, {backend}, {device_type:?}, {driver} {driver_info}"))
}
