//! Examples that need a GPU: their options, and the adapters that those select.

use std::error::Error;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use wgpu_pooling::{GpuOptions, wgpu};

use crate::adapter::{Backend, gpu_options};

// The options for which GPU to open. A documentation comment here would become the help of the whole program.
#[derive(Debug, Args)]
pub struct Wanted {
    /// Which GPUs to look at; auto takes what WGPU_BACKEND says, or all
    #[arg(long, value_parser = gpu_backend(), default_value = "auto")]
    backend: Backend,

    /// Only an adapter whose name contains this, in any case
    #[arg(long, value_name = "NAME")]
    adapter: Option<String>,
}

/// All backends except `cpu`.
fn gpu_backend() -> impl TypedValueParser<Value = Backend> {
    let gpus = Backend::value_variants().iter().filter(|&&backend| backend != Backend::Cpu);
    let names = gpus.filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(names).try_map(|name| Backend::from_str(&name, false))
}

impl Wanted {
    /// Which adapters the library may open.
    pub fn options(&self) -> GpuOptions {
        gpu_options(self.backend, self.adapter.as_deref())
    }

    /// wgpu with the backends that the command line asks for, or else those of wgpu's environment variables.
    fn instance(&self) -> (wgpu::Instance, wgpu::Backends) {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        descriptor.backends = self.backend.backends().unwrap_or(descriptor.backends);
        let backends = descriptor.backends;
        (wgpu::Instance::new(descriptor), backends)
    }

    /// All adapters of these backends, whatever their names.
    pub fn adapters(&self) -> Vec<wgpu::Adapter> {
        let (instance, backends) = self.instance();
        pollster::block_on(instance.enumerate_adapters(backends))
    }

    /// The adapter of a program that opens its device by itself: that of the command line, or else of wgpu's
    /// environment variables.
    pub fn adapter(&self) -> Result<wgpu::Adapter, Box<dyn Error>> {
        let Some(name) = self.adapter.clone().or_else(|| std::env::var("WGPU_ADAPTER_NAME").ok()) else {
            let options = wgpu::RequestAdapterOptions {
                power_preference: wgpu::PowerPreference::from_env().unwrap_or(wgpu::PowerPreference::HighPerformance),
                ..Default::default()
            };
            let adapter = pollster::block_on(self.instance().0.request_adapter(&options));
            return adapter.map_err(|error| format!("no usable GPU adapter: {error}").into());
        };
        let fits = |adapter: &wgpu::Adapter| adapter.get_info().name.to_lowercase().contains(&name.to_lowercase());
        let adapter = self.adapters().into_iter().find(fits);
        adapter.ok_or_else(|| format!("no usable GPU adapter: none is named {name:?}").into())
    }
}
