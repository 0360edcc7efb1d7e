//! Preparing plans and schedules, and encoding prepared schedules.

use std::collections::HashSet;
#[cfg(not(target_arch = "wasm32"))]
use std::num::NonZero;
use std::ops::Range;
use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicUsize, Ordering};

use wgpu_pooling_plan::{ExecuteError, Plan};

use super::gpu::{Gpu, Inner};
use crate::family::Build;
use crate::gpu::prepared::encode::{Bindings, Buffers};
use crate::gpu::prepared::plan_cache::{MOST_BYTES_EACH, Specialised};
use crate::gpu::prepared::preparation::{Preparation, ScratchOwner};
use crate::kernel::Operand;
use crate::schedule::{Dispatch, Schedule};
use crate::select::{Choice, select};

/// A schedule, ready to run any number of times. `Send + Sync`; it keeps its [`Gpu`] alive.
///
/// ```no_run
/// use wgpu_pooling::{DType, Gpu, MaxPool, PreparedPlan, Tensor, TensorView};
///
/// let gpu = Gpu::new_blocking()?;
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// let prepared = gpu.prepare_blocking(plan)?;
/// for data in [[1.0f32, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]] {
///     let y: Tensor<f32> = prepared.call_blocking(&[TensorView::new(&[1, 1, 4], &data)?.into()])?;
///     println!("{y:?}");
/// }
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    pub(super) gpu: Gpu,
    pub(super) preparation: Preparation,
    /// Whether it is a tile of a stream, whose calls neither take buffers from the buffer pool nor return them, so that
    /// a stream holds no more memory than it counts.
    pub(super) is_tile: bool,
}

/// What [`Gpu::prepare`] makes ready, and how: `From` a plan or a schedule.
///
/// ```
/// use wgpu_pooling::{DType, MaxPool, Prepare};
/// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// let shared = Prepare::from(plan).cached();
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Prepare {
    source: PrepareSource,
    cached: bool,
    scratch: ScratchOwner,
}

#[derive(Debug, Clone)]
enum PrepareSource {
    Plan(Plan),
    Schedule(Schedule),
}

impl From<Schedule> for Prepare {
    fn from(schedule: Schedule) -> Prepare {
        Prepare { source: PrepareSource::Schedule(schedule), cached: false, scratch: ScratchOwner::Own }
    }
}

impl From<Plan> for Prepare {
    fn from(plan: Plan) -> Prepare {
        Prepare { source: PrepareSource::Plan(plan), cached: false, scratch: ScratchOwner::Own }
    }
}

impl Prepare {
    /// Prepares through the plan cache, as one-shot calls do: for a plan that was prepared recently it returns the
    /// earlier preparation, with its scratch memory. This is for callers that hold tensors on the device and do not
    /// know which plans will recur. The cache keeps eight preparations with at most 1 MiB of buffers each, until
    /// [`Gpu::trim`]. Schedules, and plans with [`Prepare::scratch_of_the_run`], are always prepared anew.
    ///
    /// A plan first gets generic kernels, which are compiled once for all windows of an element type. The specialised
    /// kernels that [`Gpu::prepare`] selects are compiled in the background, by a thread of this `Gpu`, once generic
    /// calls of any shapes have cost as much time as compiling would: at most 64 small calls for each kernel. A
    /// composition switches to specialised kernels once those of all its steps are compiled. A call compiles them
    /// itself if a generic run would take as long as that, or if, as in a page, there are no threads. The bits are the
    /// same, except which of equal indices wins under [`Duplicates::Any`](crate::Duplicates::Any).
    ///
    /// ```no_run
    /// # use wgpu_pooling::{DeviceTensor, ExecuteError, Gpu};
    /// # async fn pool(gpu: Gpu, x: DeviceTensor) -> Result<(), ExecuteError> {
    /// use wgpu_pooling::{MaxPool, Prepare};
    /// let plan = MaxPool::new([2, 2]).plan(x.shape(), x.dtype(), None)?;
    /// let mut chain = gpu.chain();
    /// let [y] = chain.step(&gpu.prepare(Prepare::from(plan).cached()).await?, &[&x])?;
    /// chain.submit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn cached(self) -> Prepare {
        Prepare { cached: true, ..self }
    }

    /// Allocates no scratch memory: the caller gives it to each encode in [`Buffers::scratch`], so that runs may
    /// overlap and schedules may share it. Chains and one-shot calls allocate it for each run.
    ///
    /// ```no_run
    /// # async fn prepare(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, GlobalMaxPool, Prepare};
    /// let plan = GlobalMaxPool::new().plan(&[1, 1, 1 << 10, 1 << 10], DType::F32, None)?;
    /// let prepared = gpu.prepare(Prepare::from(plan).scratch_of_the_run()).await?;
    /// for bytes in prepared.schedule().scratch() {
    ///     println!("a buffer of {bytes} bytes");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn scratch_of_the_run(self) -> Prepare {
        Prepare { scratch: ScratchOwner::OfTheRun, ..self }
    }
}

impl Gpu {
    /// Makes a plan or a schedule ready. For a plan it selects kernels, by default or by [`Gpu::with_choice`]. It
    /// compiles the kernels and allocates their buffers. [`Prepare`] has options. (The method of
    /// [`Backend`](crate::Backend) of this name returns an `Arc<dyn PreparedPlan>`.)
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the plan exceeds the device's limits, or the schedule was made for larger ones;
    /// otherwise the errors of compiling and allocating.
    ///
    /// ```no_run
    /// # async fn prepare(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{select, Choice, DType, Family, MaxPool};
    /// let plan = MaxPool::new([5, 5]).plan(&[1, 3, 64, 64], DType::F32, None)?;
    /// let prepared = gpu.prepare(plan.clone()).await?;
    /// assert_eq!(prepared.schedule().output_shape(), &[1, 3, 60, 60]);
    /// let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
    /// let prepared = gpu.prepare(select(&plan, &gpu.limits(), &choice)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prepare(&self, what: impl Into<Prepare>) -> Result<Prepared, ExecuteError> {
        self.prepare_source(what.into()).await
    }

    async fn prepare_source(&self, Prepare { source, cached, scratch }: Prepare) -> Result<Prepared, ExecuteError> {
        match source {
            PrepareSource::Plan(plan) if cached && scratch == ScratchOwner::Own => {
                self.prepare_cached(&plan, false).await
            }
            PrepareSource::Plan(plan) => self.prepare_chosen(plan, &self.choice, scratch).await,
            PrepareSource::Schedule(schedule) => {
                self.inner.device.check_alive()?;
                schedule.check(&self.inner.device.limits)?;
                self.preparation(schedule, scratch).await
            }
        }
    }

    /// The preparation of a plan with a choice of kernels that need not be this `Gpu`'s.
    pub(super) async fn prepare_chosen(
        &self,
        plan: Plan,
        choice: &[Choice],
        scratch: ScratchOwner,
    ) -> Result<Prepared, ExecuteError> {
        self.inner.device.check_alive()?;
        // A schedule selected for these limits needs no further check.
        let schedule = select(&plan, &self.inner.device.limits, choice)?;
        self.preparation(schedule, scratch).await
    }

    async fn preparation(
        &self,
        schedule: impl Into<Arc<Schedule>>,
        scratch: ScratchOwner,
    ) -> Result<Prepared, ExecuteError> {
        let Inner { device, pipelines, .. } = &*self.inner;
        let preparation = Preparation::new(device, pipelines, schedule.into(), scratch).await?;
        Ok(self.prepared(preparation))
    }

    fn prepared(&self, preparation: Preparation) -> Prepared {
        Prepared { gpu: self.clone(), preparation, is_tile: false }
    }

    /// A preparation through the plan cache ([`Prepare::cached`]). For a single call, large scratch memory is no part
    /// of it: the run takes that from the buffer pool.
    pub(super) async fn prepare_cached(&self, plan: &Plan, for_a_call: bool) -> Result<Prepared, ExecuteError> {
        let Inner { compiler, device, pipelines, plan_cache } = &*self.inner;
        device.check_alive()?;
        let prepared = |preparation| Ok(self.prepared(preparation));
        let has_scratch = |found: &(Preparation, Specialised)| for_a_call || found.0.resources.scratch.is_some();
        let found = plan_cache.find(plan, &self.choice).filter(has_scratch);
        let (kept, selected) = match found {
            Some((preparation, None)) => return prepared(preparation),
            Some((preparation, Some(selected))) => (Some(preparation), selected),
            None => (None, select(plan, &device.limits, &self.choice)?.into()),
        };
        let missing = pipelines.missing(&selected);
        let generic = match &kept {
            _ if missing.is_empty() => None,
            Some(kept) => Some(Arc::clone(&kept.schedule)),
            None => self.generic_first(plan, &selected).map(Arc::new),
        };
        let waits = |generic: &Arc<Schedule>| !compiler.takes_specialised(device, pipelines, missing, generic);
        let (schedule, specialised) = match (generic.filter(waits), kept) {
            (Some(_), Some(kept)) => return prepared(kept),
            (Some(generic), None) => (generic, Some(selected)),
            (None, _) => (selected, None),
        };
        let much = schedule.scratch_bytes() > MOST_BYTES_EACH && !schedule.clears_scratch;
        let scratch = if for_a_call && much { ScratchOwner::OfTheRun } else { ScratchOwner::Own };
        let Prepared { preparation, .. } = self.preparation(schedule, scratch).await?;
        prepared(plan_cache.keep(Arc::clone(&self.choice), preparation, specialised))
    }

    /// The generic schedule to run until the selected one is worth compiling; `None` if there is none, or if the caller
    /// has chosen kernels.
    fn generic_first(&self, plan: &Plan, selected: &Schedule) -> Option<Schedule> {
        if !self.choice.is_empty() || selected.build() == Build::Generic {
            return None;
        }
        select(plan, &self.inner.device.limits, &Choice { family: None, build: Some(Build::Generic) }).ok()
    }

    /// Waits for the kernels that the compiler thread has been given. Their errors are ignored, because this caller did
    /// not ask for them.
    async fn until_compiled(&self) {
        let Inner { compiler, device, pipelines, .. } = &*self.inner;
        let ordered = compiler.ordered();
        for dispatch in &ordered {
            let _compiled = pipelines.get(device, dispatch).await;
        }
        compiler.until_done(&ordered);
    }

    /// Compiles the kernels of schedules ahead, so that preparing the schedules later compiles nothing. Kernels that
    /// are compiled already are not compiled again. Kernels that earlier calls have left to a thread
    /// ([`Prepare::cached`]) are also compiled when this returns. Of the pipelines that no [`Prepared`] holds, the most
    /// recently used are kept, 32 on software adapters and 128 on GPUs, until [`Gpu::trim`].
    ///
    /// `progress` is called before the first kernel and after each one, with the number of kernels that are ready and
    /// the number of all. On the web, where each kernel is awaited, the page is drawn in between.
    ///
    /// # Errors
    /// The errors of compiling.
    ///
    /// ```no_run
    /// # async fn warm_up(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{select, Choice, DType, MaxPool};
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 3, 64, 64], DType::F32, None)?;
    /// let schedule = select(&plan, &gpu.limits(), &Choice::default())?;
    /// gpu.warm_up(&[schedule], |ready, kernels| println!("{ready} of {kernels} kernels")).await?;
    /// assert!(gpu.pipeline_count() > 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn warm_up(
        &self,
        schedules: &[Schedule],
        mut progress: impl FnMut(usize, usize),
    ) -> Result<(), ExecuteError> {
        let kernels = each_once(schedules);
        progress(0, kernels.len());
        for (before, dispatch) in kernels.iter().enumerate() {
            self.inner.pipelines.get(&self.inner.device, dispatch).await?;
            progress(before + 1, kernels.len());
        }
        self.until_compiled().await;
        self.inner.device.probe()
    }

    /// Compiles the kernels of schedules ahead, as [`Gpu::warm_up`] does, several at a time: on as many threads as the
    /// machine has processors. (On GL one thread at a time can compile.) Drivers may leave a part of compiling to a
    /// kernel's first dispatch.
    ///
    /// # Errors
    /// As [`Gpu::warm_up`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Gpu, Schedule};
    /// # fn warm_up(gpu: Gpu, schedule: Schedule) -> Result<(), ExecuteError> {
    /// gpu.warm_up_blocking(&[schedule])?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn warm_up_blocking(&self, schedules: &[Schedule]) -> Result<(), ExecuteError> {
        let kernels = each_once(schedules);
        let Inner { device, pipelines, .. } = &*self.inner;
        let next = AtomicUsize::new(0);
        // Every thread takes the next kernel that none has taken, until one of them has failed.
        let compile = || {
            while let Some(dispatch) = kernels.get(next.fetch_add(1, Ordering::Relaxed)) {
                if let Err(error) = pollster::block_on(pipelines.get(device, dispatch)) {
                    next.store(kernels.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
            Ok(())
        };
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        // This thread compiles too.
        let others = processors.min(kernels.len()).saturating_sub(1);
        std::thread::scope(|scope| {
            let named = || std::thread::Builder::new().name("wgpu-pooling compiler".to_owned());
            // A thread that cannot be started leaves its share to the others.
            let others: Vec<_> = (0..others).filter_map(|_| named().spawn_scoped(scope, compile).ok()).collect();
            let own = compile();
            let panicked = |_| Err(ExecuteError::Device("a compiling thread panicked".to_owned()));
            others.into_iter().map(|other| other.join().unwrap_or_else(panicked)).fold(own, Result::and)
        })?;
        pollster::block_on(self.until_compiled());
        device.probe()
    }

    /// [`Gpu::prepare`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`Gpu::prepare`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{DType, Gpu, MaxPool, Prepare};
    /// let gpu = Gpu::new_blocking()?;
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let cached = || gpu.prepare_blocking(Prepare::from(plan.clone()).cached());
    /// assert!(std::ptr::eq(cached()?.schedule(), cached()?.schedule()));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_blocking(&self, what: impl Into<Prepare>) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare(what))
    }
}

/// A dispatch of each kernel of the schedules.
#[expect(clippy::mutable_key_type, reason = "what a key keeps of its text once it is made is no part of its hash")]
fn each_once(schedules: &[Schedule]) -> Vec<&Dispatch> {
    let mut seen = HashSet::new();
    schedules.iter().flat_map(|schedule| &schedule.dispatches).filter(|dispatch| seen.insert(dispatch.key())).collect()
}

impl Prepared {
    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.preparation.schedule
    }

    /// Records the dispatches into a command encoder, as one compute pass. Nothing is submitted, and no buffer is
    /// allocated.
    ///
    /// Encoder and buffers must belong to this device, and the caller must ensure that: wgpu refuses objects of another
    /// device of its instance, but may mistake objects of another instance for this device's.
    ///
    /// # Errors
    /// [`ExecuteError::BufferMissing`], [`ExecuteError::BufferTooShort`], [`ExecuteError::BufferMisaligned`],
    /// [`ExecuteError::BufferUsage`], [`ExecuteError::BufferShared`] and [`ExecuteError::BufferOverlap`], and wgpu's
    /// own errors, for example for a destroyed buffer. The encoder is then unchanged.
    ///
    /// ```no_run
    /// use wgpu_pooling::{wgpu, Buffers, DType, Gpu, MaxPool};
    ///
    /// # fn encode(gpu: &Gpu, x: &wgpu::Buffer, y: &wgpu::Buffer) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 3, 8, 8], DType::F32, None)?;
    /// let prepared = gpu.prepare_blocking(plan)?;
    /// let mut encoder = gpu.device().create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    /// let buffers = Buffers { x: Some(x.slice(..)), y: Some(y.slice(..)), ..Buffers::default() };
    /// prepared.encode(&mut encoder, buffers)?;
    /// gpu.queue().submit([encoder.finish()]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn encode(&self, encoder: &mut wgpu::CommandEncoder, buffers: Buffers<'_>) -> Result<(), ExecuteError> {
        let bindings = self.bindings(&buffers)?;
        let record = || self.preparation.record(encoder, &bindings, self.all(), None);
        self.gpu.inner.device.scoped_now(record).map(|_| ())
    }

    /// Records the dispatches into an open compute pass. This changes the pass's pipeline and bind group 0.
    ///
    /// # Errors
    /// As [`Prepared::encode`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{wgpu, Buffers, ExecuteError, Prepared};
    /// # fn f(pool: &Prepared, encoder: &mut wgpu::CommandEncoder, buffers: Buffers<'_>) -> Result<(), ExecuteError> {
    /// let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    /// // The caller's own dispatches,
    /// pool.encode_pass(&mut pass, buffers)?;
    /// // and more of them.
    /// # Ok(())
    /// # }
    /// ```
    pub fn encode_pass(&self, pass: &mut wgpu::ComputePass<'_>, buffers: Buffers<'_>) -> Result<(), ExecuteError> {
        let bindings = self.bindings(&buffers)?;
        let record = || self.preparation.dispatch(pass, &bindings, self.all());
        self.gpu.inner.device.scoped_now(record).map(|_| ())
    }

    /// Checks the buffers of a run and binds them.
    pub(super) fn bindings(&self, buffers: &Buffers<'_>) -> Result<Bindings, ExecuteError> {
        let device = &self.gpu.inner.device;
        let (bindings, _) = self.preparation.bind(device, buffers, Operand::field)?;
        device.probe()?;
        Ok(bindings)
    }

    /// All of the dispatches.
    fn all(&self) -> Range<usize> {
        0..self.preparation.schedule.dispatches.len()
    }

    /// This preparation for calls that may block their thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn polling(&self) -> Prepared {
        Prepared { gpu: self.gpu.polling(), preparation: self.preparation.clone(), is_tile: self.is_tile }
    }
}
