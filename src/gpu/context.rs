//! A device and what belongs to it: queue, limits, pipelines, the lost flag.

use std::sync::{Arc, OnceLock};

use super::pipeline::Pipelines;
#[cfg(not(target_arch = "wasm32"))]
use super::transfer::Poller;
use crate::error::ExecuteError;
use crate::schedule::Limits;

/// A GPU: a wgpu device with everything that the crate keeps beside it. Cheap to clone; clones share all of it.
///
/// ```no_run
/// use wgpu_pooling::{Gpu, MaxPool, TensorView};
///
/// let gpu = Gpu::new_blocking()?;
/// let x = TensorView::new([1, 1, 4], &[3.0f32, 1.0, 2.0, 9.0])?;
/// let y = gpu.max_pool_blocking(&MaxPool::new([2]).strides([2]), x)?;
/// assert_eq!(y.data(), &[3.0, 9.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gpu {
    pub(super) inner: Arc<Inner>,
}

/// What clones of a [`Gpu`] share.
#[derive(Debug)]
pub(super) struct Inner {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    pub limits: Limits,
    /// The multiple at which storage bindings begin, in bytes.
    pub alignment: u64,
    pub pipelines: Pipelines,
    pub poison: Option<u32>,
    adapter_info: Option<wgpu::AdapterInfo>,
    lost: Arc<OnceLock<String>>,
    #[cfg(not(target_arch = "wasm32"))]
    pub poller: Poller,
}

/// Which adapter to open, and how.
///
/// ```no_run
/// use wgpu_pooling::{wgpu, Gpu, GpuOptions};
///
/// let gpu = Gpu::open_blocking(&GpuOptions::new().backends(wgpu::Backends::VULKAN).adapter_name("nvidia"))?;
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct GpuOptions {
    backends: Option<wgpu::Backends>,
    adapter_name: Option<String>,
    poison: Option<u32>,
}

impl GpuOptions {
    /// Any adapter: the backends of the environment variable `WGPU_BACKEND`, or all of them; the fastest adapter first.
    pub fn new() -> Self {
        GpuOptions::default()
    }

    /// These backends alone.
    pub fn backends(mut self, backends: wgpu::Backends) -> Self {
        self.backends = Some(backends);
        self
    }

    /// The first adapter whose name contains this, without regard to case.
    pub fn adapter_name(mut self, name: impl Into<String>) -> Self {
        self.adapter_name = Some(name.into());
        self
    }

    /// Fills every fresh output and scratch buffer with this word before it is computed into, so that an element which no
    /// kernel writes shows. For tests; it costs time.
    pub fn poison(mut self, word: u32) -> Self {
        self.poison = Some(word);
        self
    }

    fn chosen_backends(&self) -> wgpu::Backends {
        self.backends.unwrap_or_else(|| wgpu::Backends::from_env().unwrap_or(wgpu::Backends::all()))
    }

    fn names(&self, info: &wgpu::AdapterInfo) -> bool {
        self.adapter_name.as_ref().is_none_or(|name| info.name.to_lowercase().contains(&name.to_lowercase()))
    }
}

/// The adapters that these options leave to choose from, as wgpu describes them.
pub async fn list_adapters(options: &GpuOptions) -> Vec<wgpu::AdapterInfo> {
    let backends = options.chosen_backends();
    let adapters = instance(backends).enumerate_adapters(backends).await;
    adapters.iter().map(wgpu::Adapter::get_info).filter(|info| options.names(info)).collect()
}

/// The adapters that these options leave to choose from: the blocking twin of [`list_adapters`].
///
/// ```
/// use wgpu_pooling::{list_adapters_blocking, GpuOptions};
///
/// for adapter in list_adapters_blocking(&GpuOptions::new()) {
///     println!("{} ({:?})", adapter.name, adapter.backend);
/// }
/// ```
#[cfg(not(target_arch = "wasm32"))]
pub fn list_adapters_blocking(options: &GpuOptions) -> Vec<wgpu::AdapterInfo> {
    pollster::block_on(list_adapters(options))
}

fn instance(backends: wgpu::Backends) -> wgpu::Instance {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = backends;
    wgpu::Instance::new(descriptor)
}

impl Gpu {
    /// Opens the fastest adapter.
    ///
    /// # Errors
    /// [`ExecuteError::NoAdapter`] if there is none, with what wgpu found on each backend; [`ExecuteError::NoDevice`] if it
    /// opens no device.
    pub async fn new() -> Result<Gpu, ExecuteError> {
        Gpu::open(&GpuOptions::new()).await
    }

    /// Opens the adapter that the options ask for.
    ///
    /// On the device that it opens it sets the lost callback and the handler of uncaptured errors; the latter writes what
    /// wgpu refuses of a caller's own calls on [`Gpu::device`] to `log`, where wgpu itself would panic.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    pub async fn open(options: &GpuOptions) -> Result<Gpu, ExecuteError> {
        let backends = options.chosen_backends();
        let instance = instance(backends);
        let adapter = match &options.adapter_name {
            None => {
                let request = wgpu::RequestAdapterOptions {
                    power_preference: wgpu::PowerPreference::HighPerformance,
                    ..Default::default()
                };
                instance.request_adapter(&request).await.map_err(|error| ExecuteError::NoAdapter(error.to_string()))?
            }
            Some(name) => named(&instance, options, name).await?,
        };
        let limits = adapter.limits();
        let info = adapter.get_info();
        if !adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
            return Err(ExecuteError::NoDevice(format!("{} ({:?}) has no compute shaders", info.name, info.backend)));
        }
        let descriptor =
            wgpu::DeviceDescriptor { label: Some("wgpu-pooling"), required_limits: limits, ..Default::default() };
        let (device, queue) =
            adapter.request_device(&descriptor).await.map_err(|error| ExecuteError::NoDevice(error.to_string()))?;
        let lost = Arc::new(OnceLock::new());
        let flag = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, message| {
            // The first loss is the one that explains the others.
            let _ = flag.set(format!("{reason:?} {message}"));
        });
        // Everything of ours runs under error scopes; whatever else comes must not end the process.
        device.on_uncaptured_error(Arc::new(|error: wgpu::Error| log::error!("wgpu: {error}")));
        log::debug!("opened {} ({:?}, {})", info.name, info.backend, info.driver_info);
        Ok(Gpu::assemble(device, queue, lost, Some(info), options.poison))
    }

    /// Takes over a device that the caller opened. Nothing of the caller's is replaced: no callbacks are set. A loss of the
    /// device that its owner alone is told of shows here as an [`ExecuteError::Device`] or [`ExecuteError::DeviceLost`].
    pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Gpu {
        Gpu::assemble(device, queue, Arc::new(OnceLock::new()), None, None)
    }

    /// Opens the fastest adapter: the blocking twin of [`Gpu::new`].
    ///
    /// # Errors
    /// As [`Gpu::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_blocking() -> Result<Gpu, ExecuteError> {
        pollster::block_on(Gpu::new())
    }

    /// Opens the adapter that the options ask for: the blocking twin of [`Gpu::open`].
    ///
    /// # Errors
    /// As [`Gpu::new`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open_blocking(options: &GpuOptions) -> Result<Gpu, ExecuteError> {
        pollster::block_on(Gpu::open(options))
    }

    fn assemble(
        device: wgpu::Device,
        queue: wgpu::Queue,
        lost: Arc<OnceLock<String>>,
        adapter_info: Option<wgpu::AdapterInfo>,
        poison: Option<u32>,
    ) -> Gpu {
        let limits = device.limits();
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment);
        let limits = Limits {
            max_buffer_bytes: limits.max_buffer_size,
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
        };
        Gpu {
            inner: Arc::new(Inner {
                #[cfg(not(target_arch = "wasm32"))]
                poller: Poller::new(device.clone()),
                device,
                queue,
                limits,
                alignment,
                pipelines: Pipelines::default(),
                poison,
                adapter_info,
                lost,
            }),
        }
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.inner.device
    }

    /// The queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    /// What the device allows, as [`select`](crate::select) takes it.
    pub fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// The adapter's description; `None` on a device that the caller opened.
    pub fn adapter_info(&self) -> Option<&wgpu::AdapterInfo> {
        self.inner.adapter_info.as_ref()
    }

    /// How many pipelines were compiled so far.
    pub fn pipeline_count(&self) -> usize {
        self.inner.pipelines.count()
    }
}

impl Inner {
    /// The error of a call that failed: the device's loss if that is why.
    pub fn failed(&self, text: String) -> ExecuteError {
        // The lost callback is called by a poll, and a lost device's objects are refused as invalid before that.
        #[cfg(not(target_arch = "wasm32"))]
        let _ = self.device.poll(wgpu::PollType::Poll);
        self.check_alive().err().unwrap_or(ExecuteError::Device(text))
    }

    /// An error if the device is known to be lost.
    pub fn check_alive(&self) -> Result<(), ExecuteError> {
        match self.lost.get() {
            Some(reason) => Err(ExecuteError::DeviceLost(reason.clone())),
            None => Ok(()),
        }
    }

    /// The error of a call that failed because the device is gone.
    pub fn lost(&self, otherwise: &str) -> ExecuteError {
        ExecuteError::DeviceLost(self.lost.get().cloned().unwrap_or_else(|| otherwise.to_owned()))
    }

    /// Does work whose wgpu errors become an [`ExecuteError`] instead of reaching the default handler, which panics.
    ///
    /// Error scopes belong to a thread, so they are opened and closed here, around work that does not wait.
    /// What fails because the device is gone is reported as its loss.
    pub async fn scoped<T>(&self, work: impl FnOnce() -> T) -> Result<T, ExecuteError> {
        match self.errors_of(work).await {
            Err(ExecuteError::Device(text)) => Err(self.failed(text)),
            other => other,
        }
    }

    /// The first error that work raises in its own scopes.
    fn errors_of<T, F: FnOnce() -> T>(&self, work: F) -> impl Future<Output = Result<T, ExecuteError>> + use<T, F> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let [internal, memory, validation] =
            [Internal, OutOfMemory, Validation].map(|filter| self.device.push_error_scope(filter));
        let result = work();
        let errors = [validation.pop(), memory.pop(), internal.pop()];
        async move {
            let mut first = None;
            for error in errors {
                let error = error.await;
                first = first.or(error);
            }
            match first {
                None => Ok(result),
                Some(error @ wgpu::Error::OutOfMemory { .. }) => Err(ExecuteError::OutOfMemory(error.to_string())),
                Some(error) => Err(ExecuteError::Device(error.to_string())),
            }
        }
    }
}

/// The best adapter that the options name.
async fn named(instance: &wgpu::Instance, options: &GpuOptions, name: &str) -> Result<wgpu::Adapter, ExecuteError> {
    let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
        wgpu::DeviceType::DiscreteGpu => 0,
        wgpu::DeviceType::IntegratedGpu => 1,
        wgpu::DeviceType::VirtualGpu => 2,
        wgpu::DeviceType::Cpu => 3,
        wgpu::DeviceType::Other => 4,
    };
    let adapters = instance.enumerate_adapters(options.chosen_backends()).await;
    let describe = |adapter: &wgpu::Adapter| {
        let info = adapter.get_info();
        format!("{} ({:?})", info.name, info.backend)
    };
    let found = adapters.iter().map(describe).collect::<Vec<_>>().join(", ");
    adapters
        .into_iter()
        .filter(|adapter| options.names(&adapter.get_info()))
        .min_by_key(rank)
        .ok_or_else(|| ExecuteError::NoAdapter(format!("none is named {name:?}; found: [{found}]")))
}
