//! Preparing plans and schedules, and encoding prepared schedules.

use std::collections::HashSet;
#[cfg(not(target_arch = "wasm32"))]
use std::num::NonZero;
use std::sync::Arc;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::atomic::{AtomicUsize, Ordering};

use wgpu_pooling_plan::{ExecuteError, Plan};

use super::gpu::{Gpu, Inner};
use crate::family::Build;
use crate::gpu::prepared::encode::Buffers;
use crate::gpu::prepared::preparation::{Preparation, Scratch};
use crate::kernel::Operand;
use crate::schedule::{Dispatch, Schedule};
use crate::select::{Choice, select};

/// A schedule, ready to run any number of times. `Send + Sync`; it keeps its [`Gpu`] alive.
///
/// ```no_run
/// use wgpu_pooling::{DType, Gpu, MaxPool, TensorView};
///
/// let gpu = Gpu::new_blocking()?;
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// let prepared = gpu.prepare_blocking(plan)?;
/// for data in [[1.0f32, 2.0, 3.0, 4.0], [8.0, 7.0, 6.0, 5.0]] {
///     println!("{:?}", prepared.max_pool_blocking(TensorView::new([1, 1, 4], &data)?)?);
/// }
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
pub struct Prepared {
    pub(super) gpu: Gpu,
    pub(super) preparation: Preparation,
}

impl Gpu {
    /// Selects kernels for a plan, by default or as [`Gpu::with_choice`] says, compiles them and allocates their
    /// buffers.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the plan exceeds the device's limits; otherwise the errors of compiling and
    /// allocating.
    ///
    /// ```no_run
    /// # async fn prepare(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{DType, MaxPool};
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let prepared = gpu.prepare(plan).await?;
    /// assert_eq!(prepared.schedule().output_shape(), &[1, 1, 3]);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prepare(&self, plan: impl Into<Plan>) -> Result<Prepared, ExecuteError> {
        self.prepare_chosen(plan.into(), &self.choice).await
    }

    /// [`Gpu::prepare`] with another choice of kernels than this `Gpu`'s.
    pub(super) async fn prepare_chosen(&self, plan: Plan, choice: &Choice) -> Result<Prepared, ExecuteError> {
        self.inner.device.check_alive()?;
        // A schedule selected for these limits needs no further check.
        let schedule = select(&plan, &self.inner.device.limits, choice)?;
        self.preparation(schedule, Scratch::Own).await
    }

    /// Compiles the kernels of a schedule and allocates its buffers.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the schedule was made for larger limits than this device has; otherwise the errors of
    /// compiling and allocating.
    ///
    /// ```no_run
    /// # async fn prepare(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{select, Choice, DType, Family, MaxPool};
    /// let plan = MaxPool::new([5, 5]).plan(&[1, 3, 64, 64], DType::F32, None)?;
    /// let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
    /// let prepared = gpu.prepare_schedule(select(&plan.into(), &gpu.limits(), &choice)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prepare_schedule(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        self.inner.device.check_alive()?;
        schedule.check(&self.inner.device.limits)?;
        self.preparation(schedule, Scratch::Own).await
    }

    /// Compiles the kernels of a schedule, but allocates no scratch memory: every encode provides it in
    /// [`Buffers::scratch`]. This is for callers with many schedules that share the memory. Chains and one-shot calls
    /// allocate scratch memory for each run of such a schedule.
    ///
    /// # Errors
    /// As [`Gpu::prepare_schedule`].
    ///
    /// ```no_run
    /// # async fn prepare(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{select, Choice, DType, GlobalMaxPool};
    /// let plan = GlobalMaxPool::new().plan(&[1, 1, 1 << 10, 1 << 10], DType::F32, None)?;
    /// let prepared =
    ///     gpu.prepare_without_scratch(select(&plan.into(), &gpu.limits(), &Choice::default())?).await?;
    /// for bytes in prepared.schedule().scratch() {
    ///     println!("a buffer of {bytes} bytes");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prepare_without_scratch(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        self.inner.device.check_alive()?;
        schedule.check(&self.inner.device.limits)?;
        self.preparation(schedule, Scratch::OfTheRun).await
    }

    async fn preparation(
        &self,
        schedule: impl Into<Arc<Schedule>>,
        scratch: Scratch,
    ) -> Result<Prepared, ExecuteError> {
        let Inner { device, pipelines, .. } = &*self.inner;
        let preparation = Preparation::new(device, pipelines, schedule.into(), scratch).await?;
        Ok(Prepared { gpu: self.clone(), preparation })
    }

    /// A preparation through the plan cache, as one-shot calls prepare: an equal plan that was prepared lately is not
    /// prepared again, and what is returned shares its scratch memory. For callers that hold tensors on the device and
    /// do not know which plans will come again. The cache keeps eight preparations with at most 1 MiB of buffers each,
    /// until [`Gpu::trim`].
    ///
    /// A plan comes first with the kernels of the generic build, which are compiled once for all windows of an element
    /// type. It comes with those that [`Gpu::prepare`] selects as soon as they are compiled: when the calls that wanted
    /// them, in all shapes together, have taken as long as compiling takes, which is 64 small calls for each kernel.
    /// They are then compiled on a thread of this `Gpu`'s, and calls go on with the generic ones. A single run that
    /// takes longer than compiling, and a call in a program without threads, such as a page, compiles them itself. The
    /// bits are the same, except which of equal indices wins under [`Duplicates::Any`](crate::Duplicates::Any).
    ///
    /// # Errors
    /// As [`Gpu::prepare`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{DeviceTensor, ExecuteError, Gpu};
    /// # async fn pool(gpu: Gpu, x: DeviceTensor) -> Result<(), ExecuteError> {
    /// use wgpu_pooling::MaxPool;
    /// let plan = MaxPool::new([2, 2]).plan(x.shape(), x.dtype(), None)?;
    /// let mut chain = gpu.chain();
    /// let y = chain.max_pool(&gpu.prepare_cached(plan).await?, &x)?;
    /// chain.submit()?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn prepare_cached(&self, plan: impl Into<Plan>) -> Result<Prepared, ExecuteError> {
        let plan = plan.into();
        let Inner { compiler, device, pipelines, plan_cache } = &*self.inner;
        device.check_alive()?;
        let prepared = |preparation| Ok(Prepared { gpu: self.clone(), preparation });
        let found = plan_cache.find(&plan, &self.choice);
        let (kept, selected) = match found {
            Some((preparation, None)) => return prepared(preparation),
            Some((preparation, Some(selected))) => (Some(preparation), selected),
            None => (None, select(&plan, &device.limits, &self.choice)?.into()),
        };
        let generic = match &kept {
            Some(kept) => Some(Arc::clone(&kept.schedule)),
            None => self.generic_first(&plan, &selected).map(Arc::new),
        };
        let waits = |generic: &Arc<Schedule>| !compiler.takes_specialised(device, pipelines, &selected, generic);
        let (schedule, specialised) = match (generic.filter(waits), kept) {
            (Some(_), Some(kept)) => return prepared(kept),
            (Some(generic), None) => (generic, Some(selected)),
            (None, _) => (selected, None),
        };
        let Prepared { preparation, .. } = self.preparation(schedule, Scratch::Own).await?;
        prepared(plan_cache.keep(self.choice, preparation, specialised))
    }

    /// The schedule that takes the place of a specialised one until this is worth compiling, where the choice of
    /// kernels is left to the crate and there is one.
    fn generic_first(&self, plan: &Plan, selected: &Schedule) -> Option<Schedule> {
        if self.choice != Choice::default() || selected.build() == Build::Generic {
            return None;
        }
        select(plan, &self.inner.device.limits, &Choice { family: None, build: Some(Build::Generic) }).ok()
    }

    /// Waits for the kernels that are being compiled for calls that have gone on with others. Whether it succeeds is no
    /// business of the caller's.
    async fn until_compiled(&self) {
        let Inner { compiler, device, pipelines, .. } = &*self.inner;
        for dispatch in compiler.ordered() {
            let _compiled = pipelines.get(device, &dispatch).await;
        }
    }

    /// Compiles the kernels of schedules ahead, so that preparing the schedules later compiles nothing. Kernels that
    /// are compiled already are not compiled again. Kernels that the calls so far have left to a thread
    /// ([`Gpu::prepare_cached`]) are compiled too when this returns. Of the pipelines that no [`Prepared`] holds, the
    /// most recently used are kept, 32 on software adapters and 128 on GPUs, until [`Gpu::trim`].
    ///
    /// # Errors
    /// The errors of compiling.
    ///
    /// ```no_run
    /// # async fn warm_up(gpu: wgpu_pooling::Gpu) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{select, Choice, DType, MaxPool};
    /// let plan = MaxPool::new([2, 2]).plan(&[1, 3, 64, 64], DType::F32, None)?;
    /// gpu.warm_up(&[select(&plan.into(), &gpu.limits(), &Choice::default())?]).await?;
    /// assert!(gpu.pipeline_count() > 0);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn warm_up(&self, schedules: &[Schedule]) -> Result<(), ExecuteError> {
        self.warm_up_with_progress(schedules, |_, _| ()).await
    }

    /// [`Gpu::warm_up`], which calls `progress` before the first kernel and after each one, with the number of kernels
    /// that are ready and the number of all. It is for programs that show how far compiling has come: on the web, where
    /// each kernel is awaited, the page is drawn in between.
    ///
    /// # Errors
    /// The errors of compiling.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Gpu, Schedule};
    /// # async fn warm_up(gpu: Gpu, schedule: Schedule) -> Result<(), ExecuteError> {
    /// gpu.warm_up_with_progress(&[schedule], |ready, kernels| println!("{ready} of {kernels} kernels")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn warm_up_with_progress(
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

    /// Compiles the kernels of a schedule, without scratch memory: the blocking twin of
    /// [`Gpu::prepare_without_scratch`].
    ///
    /// # Errors
    /// As [`Gpu::prepare_schedule`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{ExecuteError, Gpu, Schedule};
    /// # fn prepare(gpu: Gpu, schedule: Schedule) -> Result<(), ExecuteError> {
    /// let prepared = gpu.prepare_without_scratch_blocking(schedule)?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_without_scratch_blocking(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare_without_scratch(schedule))
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

    /// Selects kernels for a plan and compiles them: the blocking twin of [`Gpu::prepare`].
    ///
    /// # Errors
    /// As [`Gpu::prepare`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{DType, Gpu, MaxPool};
    /// let gpu = Gpu::new_blocking()?;
    /// let prepared = gpu.prepare_blocking(MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?)?;
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_blocking(&self, plan: impl Into<Plan>) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare(plan.into()))
    }

    /// Prepares through the plan cache: the blocking twin of [`Gpu::prepare_cached`].
    ///
    /// # Errors
    /// As [`Gpu::prepare`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{DType, Gpu, MaxPool};
    /// let gpu = Gpu::new_blocking()?;
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
    /// let (first, second) = (gpu.prepare_cached_blocking(plan.clone())?, gpu.prepare_cached_blocking(plan)?);
    /// assert!(std::ptr::eq(first.schedule(), second.schedule()));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_cached_blocking(&self, plan: impl Into<Plan>) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare_cached(plan.into()))
    }

    /// Compiles the kernels of a schedule: the blocking twin of [`Gpu::prepare_schedule`].
    ///
    /// # Errors
    /// As [`Gpu::prepare_schedule`].
    ///
    /// ```no_run
    /// use wgpu_pooling::{select, Choice, DType, Gpu, MaxPool};
    /// let gpu = Gpu::new_blocking()?;
    /// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?.into();
    /// let prepared = gpu.prepare_schedule_blocking(select(&plan, &gpu.limits(), &Choice::default())?)?;
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_schedule_blocking(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare_schedule(schedule))
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
        let (device, preparation) = (&self.gpu.inner.device, &self.preparation);
        let (bindings, _) = preparation.bind(device, &buffers, Operand::field)?;
        device.probe()?;
        let all = 0..preparation.schedule.dispatches.len();
        device.scoped_now(|| preparation.record(encoder, &bindings, all, None)).map(|_| ())
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
        let (device, preparation) = (&self.gpu.inner.device, &self.preparation);
        let (bindings, _) = preparation.bind(device, &buffers, Operand::field)?;
        device.probe()?;
        let all = 0..preparation.schedule.dispatches.len();
        device.scoped_now(|| preparation.dispatch(pass, &bindings, all)).map(|_| ())
    }

    /// This preparation for calls that may block their thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn polling(&self) -> Prepared {
        Prepared { gpu: self.gpu.polling(), preparation: self.preparation.clone() }
    }
}
