//! What an application has that has nothing to do with pooling: its device, its callbacks, its kernels.

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use wgpu_pooling::required_limits;
use wgpu_pooling::wgpu::{self, BufferUsages};

use crate::gpu::Wanted;

/// The limits that this application's own kernels need. The application has to ask for them itself; an adapter with
/// lower limits opens no device.
fn own_limits() -> wgpu::Limits {
    wgpu::Limits {
        max_storage_buffers_per_shader_stage: 2,
        max_compute_invocations_per_workgroup: 64,
        max_compute_workgroup_size_x: 8,
        max_compute_workgroup_size_y: 8,
        max_compute_workgroup_size_z: 1,
        // A picture of 4096 x 4096, in workgroups of 8 x 8.
        max_texture_dimension_2d: 4096,
        max_compute_workgroups_per_dimension: 512,
        ..wgpu::Limits::downlevel_webgl2_defaults()
    }
}

/// The application: a device that it opened by itself, and the messages of the device's callbacks.
pub struct Host {
    pub adapter: wgpu::AdapterInfo,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    errors: Arc<Mutex<Vec<String>>>,
    losses: Arc<Mutex<Vec<String>>>,
}

impl Host {
    /// Opens the adapter with limits for both: this application and the library.
    pub fn open(wanted: &Wanted) -> Result<Host, Box<dyn Error>> {
        let adapter = wanted.adapter()?;
        let required_limits = own_limits().or_better_values_from(&required_limits(&adapter));
        let descriptor = wgpu::DeviceDescriptor { label: Some("own device"), required_limits, ..Default::default() };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| format!("{} opens no device: {error}", adapter.get_info().name))?;
        let [errors, losses] = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
        let heard = Arc::clone(&errors);
        device.on_uncaptured_error(Arc::new(move |error| note(&heard, error.to_string())));
        Ok(Host { adapter: adapter.get_info(), device, queue, errors, losses })
    }

    /// Sets the application's device-lost callback. A device has only one such callback, so it also notifies the
    /// library.
    pub fn pass_losses_on(&self, notify: impl Fn(String) + Send + 'static) {
        let heard = Arc::clone(&self.losses);
        self.device.set_device_lost_callback(move |reason, message| {
            let text = format!("{reason:?} {message}").trim_end().to_owned();
            note(&heard, text.clone());
            notify(text);
        });
    }

    /// An error if wgpu refused anything of this application's own.
    pub fn check(&self) -> Result<(), Box<dyn Error>> {
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.first().map_or(Ok(()), |error| Err(error.clone().into()))
    }

    /// Destroys the device, as an application does when it closes a window, and gives the messages of the lost
    /// callback.
    pub fn lose(&self) -> String {
        self.device.destroy();
        // The callback is called from a poll, which may fail on a destroyed device.
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
        self.losses.lock().unwrap_or_else(PoisonError::into_inner).join(", ")
    }

    pub fn buffer(&self, label: &str, size: u64, usage: BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage,
            mapped_at_creation: false,
        })
    }

    /// A kernel of the application's own and its bindings, from binding 0 on.
    pub fn kernel(&self, label: &str, text: &str, resources: &[wgpu::BindingResource<'_>]) -> Kernel {
        let label = Some(label);
        let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor {
            label,
            source: wgpu::ShaderSource::Wgsl(text.into()),
        });
        let pipeline = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label,
            layout: None,
            module: &module,
            entry_point: Some("main"),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
        let entries: Vec<_> = (0..)
            .zip(resources.iter().cloned())
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource })
            .collect();
        let layout = &pipeline.get_bind_group_layout(0);
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries });
        Kernel { pipeline, group }
    }
}

fn note(heard: &Mutex<Vec<String>>, text: String) {
    heard.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

/// A kernel with its resources bound.
pub struct Kernel {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
}

impl Kernel {
    /// An invocation for each pixel.
    pub fn dispatch(&self, pass: &mut wgpu::ComputePass<'_>, [width, height]: [u32; 2]) {
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(width.div_ceil(8), height.div_ceil(8), 1);
    }
}
