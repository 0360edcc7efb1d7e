//! Options for opening a device: the adapter, limits and features.

use std::sync::Arc;

use wgpu_pooling_plan::ExecuteError;

use super::test_hooks::{Hooks, TestHooks};
use crate::schedule::Limits;

/// What to do about a program that was built without a backend.
const WITHOUT_BACKENDS: &str = "this program was built without a backend of wgpu for this platform; enable one of the \
    features vulkan, metal, dx12, gles and webgpu of wgpu-pooling or of wgpu, or compute on the CPU with \
    wgpu_pooling::Cpu (feature cpu)";

/// How to get an adapter.
#[cfg(not(target_arch = "wasm32"))]
const ADVICE: &str = "install a GPU driver (on Debian and Ubuntu mesa-vulkan-drivers brings software Vulkan), or \
    compute on the CPU with wgpu_pooling::Cpu (feature cpu)";
#[cfg(target_arch = "wasm32")]
const ADVICE: &str = "a browser has WebGPU for pages from https and from localhost, if it knows the machine's GPU; \
    or compute on the CPU with wgpu_pooling::Cpu (feature cpu)";

/// How to get an adapter where hardware is asked for and there is software.
const ADVICE_OF_SOFTWARE: &str = "GpuOptions::adapter_name or WGPU_ADAPTER_NAME takes software by its name";

/// Which adapter to open, and how. Unset options are taken from the environment variables that wgpu knows:
/// `WGPU_BACKEND`, `WGPU_ADAPTER_NAME`, `WGPU_POWER_PREF`, and those of its instance flags and backends
/// (`WGPU_VALIDATION`, `WGPU_DX12_COMPILER`, ...).
///
/// ```no_run
/// use wgpu_pooling::{wgpu, Gpu, GpuOptions};
///
/// let gpu = Gpu::open_blocking(&GpuOptions::new().backends(wgpu::Backends::VULKAN).adapter_name("nvidia"))?;
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct GpuOptions {
    backends: Option<wgpu::Backends>,
    adapter_name: Option<String>,
    hardware: bool,
    power_preference: Option<wgpu::PowerPreference>,
    limits: Option<wgpu::Limits>,
    features: wgpu::Features,
    pub(in crate::gpu) hooks: Hooks,
}

impl GpuOptions {
    /// The options of the environment variables; without these, any backend and the fastest adapter.
    ///
    /// ```
    /// let options = wgpu_pooling::GpuOptions::new();
    /// # let _ = options;
    /// ```
    pub fn new() -> Self {
        GpuOptions::default()
    }

    /// Only these backends. Without this option `WGPU_BACKEND` decides, or all backends are tried.
    ///
    /// ```
    /// use wgpu_pooling::{wgpu, GpuOptions};
    /// let options = GpuOptions::new().backends(wgpu::Backends::VULKAN | wgpu::Backends::METAL);
    /// # let _ = options;
    /// ```
    pub fn backends(mut self, backends: wgpu::Backends) -> Self {
        self.backends = Some(backends);
        self
    }

    /// Only adapters whose name contains this text, ignoring case. Without this option `WGPU_ADAPTER_NAME` decides.
    ///
    /// ```
    /// let options = wgpu_pooling::GpuOptions::new().adapter_name("radeon");
    /// # let _ = options;
    /// ```
    pub fn adapter_name(mut self, name: impl Into<String>) -> Self {
        self.adapter_name = Some(name.into());
        self
    }

    /// No adapter that computes on processors of the host, such as Mesa's llvmpipe, which any machine with Mesa has,
    /// unless it is named: the CPU backend is faster than these. `Device::open` asks for hardware, and takes a `Cpu`
    /// where there is none.
    ///
    /// ```no_run
    /// let gpu = wgpu_pooling::Gpu::open_blocking(&wgpu_pooling::GpuOptions::new().hardware())?;
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn hardware(mut self) -> Self {
        self.hardware = true;
        self
    }

    /// The fast or the power-saving adapter, where there are several. Without this option `WGPU_POWER_PREF` decides, or
    /// the fast one is taken.
    ///
    /// ```
    /// use wgpu_pooling::{wgpu, GpuOptions};
    /// let options = GpuOptions::new().power_preference(wgpu::PowerPreference::LowPower);
    /// # let _ = options;
    /// ```
    pub fn power_preference(mut self, preference: wgpu::PowerPreference) -> Self {
        self.power_preference = Some(preference);
        self
    }

    /// The limits to open the device with, instead of [`required_limits`]. Limits beyond the adapter's are an error.
    ///
    /// Four storage buffers per stage, as in `downlevel_defaults`, are enough for every operator except pools with
    /// indices over more than three spatial axes. Such pools take five buffers, and fail with
    /// [`PlanError::ExceedsLimit`](crate::PlanError). With four buffers, unpools run as
    /// [`Family::ClaimEmit`](crate::Family::ClaimEmit) with one additional dispatch.
    ///
    /// ```
    /// use wgpu_pooling::{wgpu, GpuOptions};
    /// let options = GpuOptions::new().limits(wgpu::Limits::downlevel_defaults());
    /// # let _ = options;
    /// ```
    pub fn limits(mut self, limits: wgpu::Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Opens the device with timestamp queries if the adapter has them, for [`Chain::timed`](crate::Chain::timed).
    /// Without timestamp queries chains run without timings.
    ///
    /// ```
    /// let options = wgpu_pooling::GpuOptions::new().timestamps();
    /// # let _ = options;
    /// ```
    pub fn timestamps(self) -> Self {
        self.features(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Opens the device with these features as well, as far as the adapter has them: for the caller's own use of
    /// [`Gpu::device`](crate::Gpu::device), and for [`Gpu::use_pipeline_cache`](crate::Gpu::use_pipeline_cache).
    /// Kernels of this crate need none.
    ///
    /// ```
    /// use wgpu_pooling::{wgpu, GpuOptions};
    /// let options = GpuOptions::new().features(wgpu::Features::PIPELINE_CACHE);
    /// # let _ = options;
    /// ```
    pub fn features(mut self, features: wgpu::Features) -> Self {
        self.features |= features;
        self
    }

    /// The features to open the device with. Kernels need none.
    pub(in crate::gpu) fn chosen_features(&self, adapter: &wgpu::Adapter) -> wgpu::Features {
        self.features & adapter.features()
    }

    pub(in crate::gpu) fn chosen_limits(&self, adapter: &wgpu::Adapter) -> wgpu::Limits {
        self.limits.clone().unwrap_or_else(|| required_limits(adapter))
    }

    fn chosen_backends(&self) -> wgpu::Backends {
        self.backends.unwrap_or_else(|| wgpu::Backends::from_env().unwrap_or(wgpu::Backends::all()))
    }

    /// The name that an adapter's has to contain, by the option or by the environment.
    fn chosen_name(&self) -> Option<String> {
        self.adapter_name.clone().or_else(|| std::env::var("WGPU_ADAPTER_NAME").ok())
    }

    fn chosen_power_preference(&self) -> wgpu::PowerPreference {
        let preference = self.power_preference.or_else(wgpu::PowerPreference::from_env);
        preference.unwrap_or(wgpu::PowerPreference::HighPerformance)
    }

    /// An instance of wgpu, or an error if the program was built without any backend: wgpu would panic.
    fn instance(&self) -> Result<wgpu::Instance, ExecuteError> {
        if wgpu::Instance::enabled_backend_features().is_empty() {
            return Err(ExecuteError::NoAdapter(WITHOUT_BACKENDS.to_owned()));
        }
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        descriptor.backends = self.chosen_backends();
        Ok(wgpu::Instance::new(descriptor))
    }

    /// The adapter that matches the options, for callers who open the device themselves.
    ///
    /// # Errors
    /// [`ExecuteError::NoAdapter`] if there is none, with what wgpu found on each backend, or if the program was built
    /// without backends; [`ExecuteError::NoDevice`] if the adapter has no compute shaders.
    ///
    /// ```no_run
    /// # async fn open() -> Result<(), Box<dyn std::error::Error>> {
    /// use wgpu_pooling::{required_limits, wgpu, GpuOptions};
    /// let adapter = GpuOptions::new().request_adapter().await?;
    /// let required_limits = required_limits(&adapter);
    /// let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    /// let (device, queue) = adapter.request_device(&descriptor).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn request_adapter(&self) -> Result<wgpu::Adapter, ExecuteError> {
        let instance = self.instance()?;
        let adapter = match self.chosen_name() {
            Some(name) => self.best_of(&instance, &name).await?,
            None if self.hardware => self.best_of(&instance, "").await?,
            None => {
                let request = wgpu::RequestAdapterOptions {
                    power_preference: self.chosen_power_preference(),
                    ..Default::default()
                };
                let found = instance.request_adapter(&request).await;
                found.map_err(|error| ExecuteError::NoAdapter(format!("{error}; {}{ADVICE}", self.narrowed())))?
            }
        };
        if !adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS) {
            let info = adapter.get_info();
            let what = format!("{} ({:?}) has no compute shaders", info.name, info.backend);
            return Err(ExecuteError::NoDevice(format!("{what}; choose another with GpuOptions::adapter_name")));
        }
        Ok(adapter)
    }

    /// The best adapter whose name contains this text.
    async fn best_of(&self, instance: &wgpu::Instance, name: &str) -> Result<wgpu::Adapter, ExecuteError> {
        let frugal = self.chosen_power_preference() == wgpu::PowerPreference::LowPower;
        let rank = |adapter: &wgpu::Adapter| match adapter.get_info().device_type {
            wgpu::DeviceType::DiscreteGpu => u8::from(frugal),
            wgpu::DeviceType::IntegratedGpu => u8::from(!frugal),
            wgpu::DeviceType::VirtualGpu => 2,
            wgpu::DeviceType::Cpu => 3,
            wgpu::DeviceType::Other => 4,
        };
        let adapters = instance.enumerate_adapters(self.chosen_backends()).await;
        let describe = |adapter: &wgpu::Adapter| {
            let info = adapter.get_info();
            format!("{} ({:?})", info.name, info.backend)
        };
        let found = adapters.iter().map(describe).collect::<Vec<_>>().join(", ");
        let matching = adapters.into_iter().filter(|adapter| self.takes(&adapter.get_info(), name));
        matching.min_by_key(rank).ok_or_else(|| {
            let what = if name.is_empty() { "none is hardware".to_owned() } else { format!("none is named {name:?}") };
            let advice = if name.is_empty() && !found.is_empty() { ADVICE_OF_SOFTWARE } else { ADVICE };
            ExecuteError::NoAdapter(format!("{what}; found: [{found}]; {}{advice}", self.narrowed()))
        })
    }

    fn takes(&self, info: &wgpu::AdapterInfo, name: &str) -> bool {
        let software = info.device_type == wgpu::DeviceType::Cpu;
        contains(&info.name, name) && !(self.hardware && software && name.is_empty())
    }

    /// The options that narrowed the choice, for a user without an adapter.
    fn narrowed(&self) -> String {
        let mut narrowed = String::new();
        let said = |set: bool, option: &str, variable: &str| match std::env::var(variable) {
            _ if set => Some(format!("GpuOptions::{option} narrows the choice")),
            Ok(value) => Some(format!("{variable}={value} narrows the choice")),
            Err(_) => None,
        };
        let backends = said(self.backends.is_some(), "backends", "WGPU_BACKEND");
        let name = said(self.adapter_name.is_some(), "adapter_name", "WGPU_ADAPTER_NAME");
        for reason in backends.into_iter().chain(name) {
            narrowed.push_str(&reason);
            narrowed.push_str("; ");
        }
        narrowed
    }

    /// The error of an adapter that refuses to open a device.
    pub(in crate::gpu) fn refused(&self, info: &wgpu::AdapterInfo, error: &wgpu::RequestDeviceError) -> ExecuteError {
        let what = format!("{} ({:?}): {error}", info.name, info.backend);
        ExecuteError::NoDevice(match self.limits {
            Some(_) => format!("{what}; GpuOptions::limits may ask for no more than the adapter has"),
            None => what,
        })
    }
}

impl TestHooks for GpuOptions {
    fn poison(mut self, word: u32) -> Self {
        self.hooks.poison = Some(word);
        self
    }

    fn failing_allocations_where(mut self, fails: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.hooks.fails = Some(Arc::new(fails));
        self
    }
}

/// The limits on which schedules depend, from wgpu's limits; the adapter is taken to be a GPU.
///
/// ```
/// use wgpu_pooling::{wgpu, Limits};
/// assert_eq!(Limits::from(&wgpu::Limits::defaults()), Limits::WEBGPU);
/// ```
impl From<&wgpu::Limits> for Limits {
    fn from(limits: &wgpu::Limits) -> Limits {
        Limits {
            max_buffer_bytes: limits.max_buffer_size,
            max_binding_bytes: limits.max_storage_buffer_binding_size,
            max_workgroups_per_dimension: limits.max_compute_workgroups_per_dimension,
            max_storage_buffers: limits.max_storage_buffers_per_shader_stage,
            software: false,
        }
    }
}

fn contains(adapter: &str, name: &str) -> bool {
    adapter.to_lowercase().contains(&name.to_lowercase())
}

/// The limits to open a device with, so that this crate can use all of the adapter: WebGPU's defaults, with the
/// adapter's largest buffers, bindings and grids. Applications raise further limits that they need.
///
/// ```no_run
/// use wgpu_pooling::{required_limits, wgpu, Gpu};
///
/// # async fn open(adapter: wgpu::Adapter) -> Result<Gpu, Box<dyn std::error::Error>> {
/// let mut required_limits = required_limits(&adapter);
/// required_limits.max_texture_dimension_2d = adapter.limits().max_texture_dimension_2d;
/// let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
/// let (device, queue) = adapter.request_device(&descriptor).await?;
/// Ok(Gpu::from_wgpu(device, queue))
/// # }
/// ```
pub fn required_limits(adapter: &wgpu::Adapter) -> wgpu::Limits {
    let has = adapter.limits();
    let wanted = wgpu::Limits {
        max_buffer_size: has.max_buffer_size,
        max_storage_buffer_binding_size: has.max_storage_buffer_binding_size,
        max_compute_workgroups_per_dimension: has.max_compute_workgroups_per_dimension,
        min_storage_buffer_offset_alignment: has.min_storage_buffer_offset_alignment,
        ..wgpu::Limits::defaults()
    };
    // Some adapters have smaller limits than the defaults. A schedule that needs more fails with an error.
    wanted.or_worse_values_from(&has)
}

/// The adapters that match these options, as wgpu describes them.
///
/// ```no_run
/// # async fn list() {
/// use wgpu_pooling::{list_adapters, GpuOptions};
/// for adapter in list_adapters(&GpuOptions::new()).await {
///     println!("{} ({:?})", adapter.name, adapter.backend);
/// }
/// # }
/// ```
pub async fn list_adapters(options: &GpuOptions) -> Vec<wgpu::AdapterInfo> {
    let Ok(instance) = options.instance() else { return Vec::new() };
    let adapters = instance.enumerate_adapters(options.chosen_backends()).await;
    let name = options.chosen_name().unwrap_or_default();
    adapters.iter().map(wgpu::Adapter::get_info).filter(|info| options.takes(info, &name)).collect()
}

/// The adapters that match these options: the blocking twin of [`list_adapters`].
#[cfg(not(target_arch = "wasm32"))]
pub fn list_adapters_blocking(options: &GpuOptions) -> Vec<wgpu::AdapterInfo> {
    pollster::block_on(list_adapters(options))
}

#[cfg(test)]
mod tests {
    /// Only in a build without a backend of wgpu, which tests/all makes.
    #[cfg(not(any(feature = "vulkan", feature = "metal", feature = "dx12", feature = "gles")))]
    #[test]
    fn a_program_without_backends_says_which_features_to_enable() {
        use super::*;

        let error = crate::Gpu::new_blocking().expect_err("there is nothing to open");
        assert!(matches!(error, ExecuteError::NoAdapter(_)), "{error:?}");
        let text = error.to_string();
        for word in ["vulkan", "metal", "dx12", "gles", "webgpu", "wgpu_pooling::Cpu"] {
            assert!(text.contains(word), "{text}");
        }
        assert!(list_adapters_blocking(&GpuOptions::new()).is_empty());
    }
}
