//! The adapter of a program that opens its device by itself.

use std::error::Error;

use wgpu_pooling::wgpu;

use crate::gpu::Wanted;

/// The adapter that the command line asks for, or else wgpu's environment variables.
pub fn choose(wanted: &Wanted) -> Result<wgpu::Adapter, Box<dyn Error>> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
    descriptor.backends = wanted.backend.backends().unwrap_or(descriptor.backends);
    let backends = descriptor.backends;
    let instance = wgpu::Instance::new(descriptor);
    let Some(name) = wanted.adapter.clone().or_else(|| std::env::var("WGPU_ADAPTER_NAME").ok()) else {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::from_env().unwrap_or(wgpu::PowerPreference::HighPerformance),
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options));
        return adapter.map_err(|error| format!("no usable GPU adapter: {error}").into());
    };
    let adapters = pollster::block_on(instance.enumerate_adapters(backends));
    let fits = |adapter: &wgpu::Adapter| adapter.get_info().name.to_lowercase().contains(&name.to_lowercase());
    adapters.into_iter().find(fits).ok_or_else(|| format!("no usable GPU adapter: none is named {name:?}").into())
}
