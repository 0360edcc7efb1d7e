//! The handle that callers hold: a device, its pipelines and its plan cache.

use std::sync::Arc;

use wgpu_pooling_plan::ExecuteError;

use crate::gpu::device::OpenDevice;
use crate::gpu::device::adapter::GpuOptions;
use crate::gpu::device::polling::Submission;
use crate::gpu::device::signal::Signal;
use crate::gpu::prepared::compiler::Compiler;
use crate::gpu::prepared::pipelines::Pipelines;
use crate::gpu::prepared::plan_cache::PlanCache;
use crate::schedule::Limits;
use crate::select::Choice;

/// A GPU: a wgpu device with its pipeline cache, plan cache and buffer pool. Cheap to clone; clones share all of it.
///
/// Any number of threads can use it at once, and drop its objects. On GL, where wgpu alone does not permit this, the
/// crate takes turns between calls through one `Gpu` and its clones; for a caller's own wgpu calls see
/// [`Gpu::exclusive`].
///
/// ```no_run
/// use wgpu_pooling::{Gpu, MaxPool, TensorView};
///
/// let gpu = Gpu::new_blocking()?;
/// let x = TensorView::new(&[1, 1, 4], &[3.0f32, 1.0, 2.0, 9.0])?;
/// let y = MaxPool::new([2]).strides([2]).on(x).run_blocking(&gpu)?;
/// assert_eq!(y.data(), &[3.0, 9.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Gpu {
    pub(in crate::gpu) inner: Arc<Inner>,
    /// How [`Gpu::prepare`] and one-shot calls select kernels.
    pub(super) choice: Arc<[Choice]>,
    /// Whether waiting calls poll the device in their own thread. Blocking calls do, which saves waking the polling
    /// thread.
    pub(super) polls: bool,
}

/// The state that clones of a [`Gpu`] share.
#[derive(Debug)]
pub(in crate::gpu) struct Inner {
    // Dropped first: its thread uses the others.
    pub compiler: Compiler,
    pub device: Arc<OpenDevice>,
    pub pipelines: Arc<Pipelines>,
    pub plan_cache: PlanCache,
}

impl Gpu {
    /// Opens the fastest adapter.
    ///
    /// # Errors
    /// [`ExecuteError::NoAdapter`] if there is none, with what wgpu found on each backend; [`ExecuteError::NoDevice`]
    /// if the adapter opens no device.
    ///
    /// ```no_run
    /// # async fn open() -> Result<(), wgpu_pooling::ExecuteError> {
    /// let gpu = wgpu_pooling::Gpu::new().await?;
    /// println!("{}", gpu.adapter_info().name);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn new() -> Result<Gpu, ExecuteError> {
        Gpu::open(&GpuOptions::new()).await
    }

    /// Opens the adapter that the options ask for.
    ///
    /// This sets the lost callback and the handler of uncaptured errors of the new device. The handler writes errors of
    /// the caller's own calls on [`Gpu::device`] to `log`; without it wgpu would panic.
    ///
    /// # Errors
    /// As [`Gpu::new`].
    ///
    /// ```no_run
    /// # async fn open() -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{wgpu, Gpu, GpuOptions};
    /// let options = GpuOptions::new().power_preference(wgpu::PowerPreference::LowPower);
    /// let gpu = Gpu::open(&options).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn open(options: &GpuOptions) -> Result<Gpu, ExecuteError> {
        let adapter = options.request_adapter().await?;
        let info = adapter.get_info();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("wgpu-pooling"),
            required_features: options.chosen_features(&adapter),
            required_limits: options.chosen_limits(&adapter),
            ..Default::default()
        };
        let (device, queue) =
            adapter.request_device(&descriptor).await.map_err(|error| options.refused(&info, &error))?;
        // The crate's own calls run under error scopes; any other error must not end the process.
        device.on_uncaptured_error(Arc::new(|error: wgpu::Error| log::error!("wgpu: {error}")));
        log::debug!("opened {} ({:?}, {})", info.name, info.backend, info.driver_info);
        let gpu = Gpu::of(OpenDevice::new(device, queue, options));
        let notify_lost = gpu.loss_notifier();
        gpu.device().set_device_lost_callback(move |reason, message| notify_lost(format!("{reason:?} {message}")));
        Ok(gpu)
    }

    /// Takes over a device that the caller opened, best with [`required_limits`](crate::required_limits).
    ///
    /// No callback of the caller's is replaced, and every error scope that is opened is closed again. wgpu reports a
    /// device's loss to a single callback; the caller sets it and passes the reason to [`Gpu::loss_notifier`]. Two
    /// `Gpu`s made of one device have separate notifiers and, on GL, do not take turns with each other
    /// ([`Gpu::exclusive`]): prefer clones. Without the notifier, waiting calls still end with
    /// [`ExecuteError::Device`] or [`ExecuteError::DeviceLost`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{required_limits, wgpu, Gpu};
    ///
    /// # async fn open(adapter: wgpu::Adapter) -> Result<Gpu, Box<dyn std::error::Error>> {
    /// let required_limits = required_limits(&adapter);
    /// let descriptor = wgpu::DeviceDescriptor { required_limits, ..Default::default() };
    /// let (device, queue) = adapter.request_device(&descriptor).await?;
    /// let gpu = Gpu::from_wgpu(device.clone(), queue);
    /// let notify_lost = gpu.loss_notifier();
    /// device.set_device_lost_callback(move |reason, message| notify_lost(format!("{reason:?} {message}")));
    /// # Ok(gpu)
    /// # }
    /// ```
    pub fn from_wgpu(device: wgpu::Device, queue: wgpu::Queue) -> Gpu {
        Gpu::of(OpenDevice::new(device, queue, &GpuOptions::default()))
    }

    /// A function that marks the device as lost: every later call that needs it returns [`ExecuteError::DeviceLost`]
    /// with the function's argument, without spaces at its ends, as the reason, at once. The first reason stays. It is
    /// for the caller's own lost callback, and keeps neither the `Gpu` nor the device alive; [`Gpu::open`] sets a
    /// callback that calls it.
    ///
    /// ```no_run
    /// use wgpu_pooling::{ExecuteError, Gpu, MaxPool, TensorView};
    ///
    /// let gpu = Gpu::new_blocking()?;
    /// gpu.loss_notifier()("the driver was updated".to_owned());
    /// let x = TensorView::new(&[1, 1, 2], &[1.0f32, 2.0])?;
    /// let result = MaxPool::new([2]).on(x).run_blocking(&gpu);
    /// assert_eq!(result, Err(ExecuteError::DeviceLost("the driver was updated".to_owned())));
    /// # Ok::<(), ExecuteError>(())
    /// ```
    pub fn loss_notifier(&self) -> impl Fn(String) + Clone + Send + Sync + use<> {
        let loss = Arc::clone(self.inner.device.loss());
        move |reason: String| loss.tell(reason.trim().to_owned())
    }

    /// Whether the device is known to be lost: every call that needs it then returns [`ExecuteError::DeviceLost`], and
    /// a new `Gpu` has to be opened. A loss that nothing has reported yet becomes known with the next call that meets
    /// it.
    ///
    /// ```no_run
    /// let mut gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// gpu.loss_notifier()("the driver was updated".to_owned());
    /// if gpu.is_lost() {
    ///     gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// }
    /// assert!(!gpu.is_lost());
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn is_lost(&self) -> bool {
        self.inner.device.check_alive().is_err()
    }

    /// Waits until the device is known to be lost, and returns the reason. The future keeps neither the `Gpu` nor the
    /// device alive, and may be awaited on any thread. So a program can act on a loss without a callback of wgpu's,
    /// which has to be `Send` even on the web.
    ///
    /// A browser reports a loss at once. Elsewhere wgpu reports it in a poll; calls that wait poll.
    ///
    /// ```no_run
    /// # async fn watch(gpu: wgpu_pooling::Gpu) {
    /// let reason = gpu.until_lost().await;
    /// println!("the GPU is lost: {reason}");
    /// # }
    /// ```
    pub fn until_lost(&self) -> impl Future<Output = String> + use<> {
        Signal::until(Arc::clone(self.inner.device.loss()))
    }

    /// Opens the fastest adapter: the blocking twin of [`Gpu::new`].
    ///
    /// # Errors
    /// As [`Gpu::new`].
    ///
    /// ```no_run
    /// let gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// println!("{}", gpu.adapter_info().name);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn new_blocking() -> Result<Gpu, ExecuteError> {
        pollster::block_on(Gpu::new())
    }

    /// Opens the adapter that the options ask for: the blocking twin of [`Gpu::open`].
    ///
    /// # Errors
    /// As [`Gpu::new`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{ExecuteError, Gpu, GpuOptions};
    /// let error = Gpu::open_blocking(&GpuOptions::new().adapter_name("no such card")).unwrap_err();
    /// assert!(matches!(error, ExecuteError::NoAdapter(_)));
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn open_blocking(options: &GpuOptions) -> Result<Gpu, ExecuteError> {
        pollster::block_on(Gpu::open(options))
    }

    fn of(device: OpenDevice) -> Gpu {
        let inner = Inner {
            compiler: Compiler::default(),
            pipelines: Arc::new(Pipelines::new(device.limits.software)),
            device: Arc::new(device),
            plan_cache: PlanCache::default(),
        };
        Gpu { inner: Arc::new(inner), choice: Arc::default(), polls: false }
    }

    /// A handle to the same device and caches, with a choice of kernels for [`Gpu::prepare`] and one-shot calls: a
    /// [`Choice`], or a list of them for the steps of a composition ([`select`](crate::select())).
    ///
    /// One-shot calls use any choice but the default from the first call on: they wait for specialised kernels to be
    /// compiled, or never compile any if the choice is generic. By default they begin with generic kernels
    /// ([`Prepare::cached`](crate::Prepare::cached)). In the generic build unpools run as
    /// [`Family::ClaimEmit`](crate::Family::ClaimEmit). The choice does not apply to the tiles of streams and of
    /// one-shot calls beyond the device's limits.
    ///
    /// A family that does not apply to a plan makes the call an error,
    /// [`PlanError::KernelDoesNotApply`](crate::PlanError).
    ///
    /// ```no_run
    /// use wgpu_pooling::{Build, Choice, Gpu, MaxPool, Tensor};
    ///
    /// let gpu = Gpu::new_blocking()?.with_choice(Choice { build: Some(Build::Generic), ..Choice::default() });
    /// let x = Tensor::new([1, 1, 90, 90], vec![0.0f32; 8_100])?;
    /// for kernel in 2..9 {
    ///     MaxPool::new([kernel, kernel]).on(&x).run_blocking(&gpu)?;
    /// }
    /// assert_eq!(gpu.pipeline_count(), 1);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[must_use]
    pub fn with_choice(&self, choice: impl AsRef<[Choice]>) -> Gpu {
        // No choices at all are the default.
        let choice = choice.as_ref();
        let chosen = choice.iter().any(|choice| *choice != Choice::default());
        Gpu { choice: if chosen { choice.into() } else { Arc::default() }, ..self.clone() }
    }

    /// Takes a cache of compiled pipelines from the caller, who saves it and hands it over again in the next run of the
    /// program. All pipelines that are compiled from now on are looked up in it and added to it.
    ///
    /// The cache belongs to this device, which has the feature `PIPELINE_CACHE` (Vulkan alone, in wgpu 30):
    /// [`GpuOptions::features`] asks for it. wgpu makes it by an unsafe call, since drivers trust its data, and may
    /// panic over a cache of another device. `None` removes the cache. The driver decides what a cache holds; some
    /// drivers keep almost nothing in it.
    ///
    /// # Errors
    /// [`ExecuteError::FeatureMissing`] if the device was opened without the feature.
    ///
    /// ```no_run
    /// use wgpu_pooling::{wgpu, Gpu, GpuOptions};
    ///
    /// let gpu = Gpu::open_blocking(&GpuOptions::new().features(wgpu::Features::PIPELINE_CACHE))?;
    /// if gpu.device().features().contains(wgpu::Features::PIPELINE_CACHE) {
    ///     // A file for each driver and card: wgpu::util::pipeline_cache_key(&gpu.adapter_info()).
    ///     let data = std::fs::read("pipelines.bin").ok();
    ///     let descriptor = wgpu::PipelineCacheDescriptor { label: None, data: data.as_deref(), fallback: true };
    ///     // SAFETY: the file is what this program saved from `PipelineCache::get_data`.
    ///     let cache = unsafe { gpu.device().create_pipeline_cache(&descriptor) };
    ///     gpu.use_pipeline_cache(cache.clone())?;
    ///     // Pool, then save it.
    ///     let _saved = cache.get_data().map(|data| std::fs::write("pipelines.bin", data));
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn use_pipeline_cache(&self, cache: impl Into<Option<wgpu::PipelineCache>>) -> Result<(), ExecuteError> {
        let gate = self.inner.device.wgpu.gate();
        let cache = cache.into().map(|cache| gate.own(cache));
        if cache.is_some() && !self.device().features().contains(wgpu::Features::PIPELINE_CACHE) {
            return Err(ExecuteError::FeatureMissing { feature: "PIPELINE_CACHE" });
        }
        self.inner.pipelines.look_up_in(cache);
        Ok(())
    }

    /// Makes sure that a submission's callbacks are called while the call waits for them.
    pub(super) fn follow(&self, submission: Submission) -> Result<(), ExecuteError> {
        self.inner.device.follow(submission, self.polls)
    }

    /// This `Gpu` for calls that may block their thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn polling(&self) -> Gpu {
        Gpu { polls: true, ..self.clone() }
    }

    /// Refuses objects of another `Gpu`. wgpu compares devices by a number that is unique within one instance only, and
    /// panics on buffers of another instance.
    pub(super) fn check_same(&self, what: &'static str, other: &Gpu) -> Result<(), ExecuteError> {
        if Arc::ptr_eq(&self.inner, &other.inner) { Ok(()) } else { Err(ExecuteError::OtherGpu { what }) }
    }

    /// The device.
    ///
    /// ```no_run
    /// use wgpu_pooling::{wgpu, Gpu};
    /// let gpu = Gpu::new_blocking()?;
    /// let encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn device(&self) -> &wgpu::Device {
        &self.inner.device.wgpu
    }

    /// The queue.
    ///
    /// ```no_run
    /// let gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// let encoder = gpu.device().create_command_encoder(&Default::default());
    /// gpu.queue().submit([encoder.finish()]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn queue(&self) -> &wgpu::Queue {
        &self.inner.device.queue
    }

    /// Does work while no other thread uses the device through this `Gpu` or its clones. Only GL needs this; on other
    /// backends the work runs at once.
    ///
    /// A GL device has one context, which one thread can use at a time. wgpu locks it to create, write, map and drop
    /// buffers and pipelines, to submit, poll and wait, and panics if another thread holds it for longer than six
    /// seconds (one on Windows). This crate's calls wait for each other without a time limit. A caller whose own
    /// threads call wgpu on the same device while this crate uses it makes those calls inside `exclusive`. All GL
    /// devices of one `wgpu::Instance` have the same context, and a second `Gpu` on one of them does not take turns
    /// with the first.
    ///
    /// The work may use this crate's calls that do not wait, `Prepared::encode` and chains up to `submit`. It may not
    /// wait for another thread, nor for the device: either may in turn be waiting for this work to end. wgpu calls the
    /// caller's own callbacks while it polls and submits, so on GL they too run inside `exclusive`.
    ///
    /// ```no_run
    /// let gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// std::thread::scope(|scope| {
    ///     for _ in 0..2 {
    ///         scope.spawn(|| {
    ///             let encoder = gpu.device().create_command_encoder(&Default::default());
    ///             gpu.exclusive(|| gpu.queue().submit([encoder.finish()]));
    ///         });
    ///     }
    /// });
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn exclusive<T>(&self, work: impl FnOnce() -> T) -> T {
        self.inner.device.wgpu.gate().exclusive(work)
    }

    /// The device's limits, for [`select`](crate::select).
    ///
    /// ```no_run
    /// let gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// println!("{} MiB in one binding", gpu.limits().max_binding_bytes >> 20);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn limits(&self) -> Limits {
        self.inner.device.limits
    }

    /// The adapter's description. If a browser does not name it, the name is made of its vendor and architecture.
    pub fn adapter_info(&self) -> wgpu::AdapterInfo {
        let info = self.inner.device.wgpu.adapter_info();
        #[cfg(all(target_arch = "wasm32", target_os = "unknown", feature = "webgpu"))]
        let info = described_by_the_browser(&self.inner.device.wgpu, info);
        info
    }

    /// Empties the caches: the buffer pool (idle buffers of one-shot calls and chains, at most 64 MiB), the plan cache
    /// (preparations of the last eight plans of one-shot calls, at most 1 MiB each), and the idle pipelines (those that
    /// no [`Prepared`] holds). It also resets the counts by which calls change to specialised kernels. The next calls
    /// allocate and compile again. Copies of uploads that wait for a submit are submitted; the memory of dropped
    /// tensors is freed after them.
    ///
    /// One-shot calls use the buffer pool because wgpu clears every fresh buffer that a kernel writes, and because
    /// creating and filling buffers is most of the cost of a small call. Tensors that the caller holds are never in the
    /// pool. The most recently used idle pipelines are kept, an estimated 256 MiB at most: 128 on GPUs, and 32 on
    /// software adapters, at an assumed 8 MiB each (specialised ones were measured to hold 2 to 6 MiB on software
    /// Vulkan).
    ///
    /// ```no_run
    /// use wgpu_pooling::{Gpu, MaxPool, TensorView};
    ///
    /// let gpu = Gpu::new_blocking()?;
    /// MaxPool::new([2]).on(TensorView::new(&[1, 1, 3], &[3.0f32, 1.0, 2.0])?).run_blocking(&gpu)?;
    /// assert!(gpu.idle_bytes() > 0);
    /// gpu.trim();
    /// assert_eq!((gpu.idle_bytes(), gpu.resident_pipeline_count()), (0, 0));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    ///
    /// [`Prepared`]: crate::Prepared
    pub fn trim(&self) {
        self.inner.device.memory.pool.clear();
        // Preparations hold pipelines, so they are dropped first.
        self.inner.plan_cache.clear();
        self.inner.pipelines.trim();
        self.inner.compiler.forget();
        self.inner.device.submit_copies_beyond(0, self.polls);
    }

    /// The bytes of buffers that [`Gpu::trim`] would free.
    pub fn idle_bytes(&self) -> u64 {
        self.inner.device.memory.pool.bytes() + self.inner.plan_cache.bytes()
    }

    /// The number of pipelines compiled so far, including those freed since.
    ///
    /// ```no_run
    /// use wgpu_pooling::{DType, Gpu, MaxPool};
    /// let gpu = Gpu::new_blocking()?;
    /// assert_eq!(gpu.pipeline_count(), 0);
    /// // Other shapes of one configuration share a pipeline.
    /// for extent in [8, 9] {
    ///     gpu.prepare_blocking(MaxPool::new([2]).plan(&[1, 1, extent], DType::F32, None)?)?;
    /// }
    /// assert_eq!(gpu.pipeline_count(), 1);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn pipeline_count(&self) -> usize {
        self.inner.pipelines.compiled()
    }

    /// The number of pipelines in memory: those that a [`Prepared`](crate::Prepared) or the plan cache holds, and the
    /// idle ones.
    #[doc(hidden)]
    pub fn resident_pipeline_count(&self) -> usize {
        self.inner.pipelines.resident()
    }
}

/// The description of an adapter with what the browser says of it. wgpu passes on nothing but WebGPU's `description`,
/// which browsers leave empty.
#[cfg(all(target_arch = "wasm32", target_os = "unknown", feature = "webgpu"))]
fn described_by_the_browser(device: &wgpu::Device, info: wgpu::AdapterInfo) -> wgpu::AdapterInfo {
    let Some(said) = device.as_webgpu().map(|device| device.adapter_info()) else { return info };
    let words = [said.vendor(), said.architecture(), said.device(), said.description()];
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    wgpu::AdapterInfo { name: words.join(" "), ..info }
}
