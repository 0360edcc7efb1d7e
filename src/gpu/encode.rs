//! A schedule with its device resources: pipelines, uniforms, tables and scratch memory.

use std::ops::Range;
use std::sync::Arc;

use super::context::{Gpu, Inner, Verdict};
use super::gate::Owned;
use super::kept::Preparation;
use super::pipeline::Pipeline;
use super::transfer::SCRATCH_USAGES;
use crate::error::ExecuteError;
use crate::kernel::Slot;
use crate::options::OutOfBounds;
use crate::plan::Plan;
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
    pub(super) schedule: Arc<Schedule>,
    resources: Arc<Resources>,
}

/// What a schedule runs with.
#[derive(Debug)]
pub(super) struct Resources {
    label: String,
    pipelines: Vec<Arc<Pipeline>>,
    /// The uniforms and the window tables.
    constants: Owned<wgpu::Buffer>,
    /// `None` where the caller brings it.
    scratch: Option<Vec<Owned<wgpu::Buffer>>>,
    /// Where an unpool that reports nothing keeps its report.
    status: Option<Owned<wgpu::Buffer>>,
}

/// The buffers of one run. What the schedule does not need may be left out and is not looked at.
///
/// Slices begin at a multiple of the device's `min_storage_buffer_offset_alignment`, are at least as long as the schedule
/// says (whole words), and their buffers have the usage `STORAGE`. A buffer that is written is given for nothing else.
///
/// ```no_run
/// # use wgpu_pooling::{wgpu, Buffers, ExecuteError, Prepared};
/// # fn f(
/// #     pool: &Prepared, encoder: &mut wgpu::CommandEncoder, x: wgpu::Buffer, y: wgpu::Buffer, i: wgpu::Buffer,
/// # ) -> Result<(), ExecuteError> {
/// // A pool with indices.
/// let buffers = Buffers {
///     x: Some(x.slice(..)),
///     y: Some(y.slice(..)),
///     indices_out: Some(i.slice(..)),
///     ..Buffers::default()
/// };
/// pool.encode(encoder, buffers)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Buffers<'a> {
    /// X.
    pub x: Option<wgpu::BufferSlice<'a>>,
    /// Y, written whole.
    pub y: Option<wgpu::BufferSlice<'a>>,
    /// The indices that an unpool or a conversion reads.
    pub indices: Option<wgpu::BufferSlice<'a>>,
    /// The indices that a pool or a conversion writes.
    pub indices_out: Option<wgpu::BufferSlice<'a>>,
    /// The report of an unpool or a conversion, 32 bytes for [`Prepared::read_report`]. An unpool that skips bad indices
    /// reports nothing and needs none.
    pub status: Option<wgpu::BufferSlice<'a>>,
    /// Scratch memory in place of the plan's own: a slice for each of [`Schedule::scratch`], each of another buffer, with the
    /// usages `STORAGE` and `INDIRECT`. It holds nothing between two runs.
    pub scratch: &'a [wgpu::BufferSlice<'a>],
}

impl Gpu {
    /// Selects kernels for a plan and gets them ready.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the plan exceeds the device's limits; otherwise what compiling and allocating can give.
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
        let schedule = select(&plan.into(), &self.inner.limits, &Choice::default())?;
        self.prepare_schedule(schedule).await
    }

    /// Gets the kernels of a schedule ready.
    ///
    /// # Errors
    /// [`ExecuteError::Plan`] if the schedule was made for larger limits than this device has; otherwise what compiling and
    /// allocating can give.
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
        let scratch = |schedule: &Schedule| Some(self.inner.scratch_buffers(schedule));
        self.prepare_with(schedule, scratch).await
    }

    /// Gets the kernels of a schedule ready, but allocates no scratch memory: every encode brings its own in
    /// [`Buffers::scratch`]. For callers who have many schedules and share the memory between them. Chains and one-shot calls
    /// allocate what is missing for each run.
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
        self.prepare_with(schedule, |_| None).await
    }

    async fn prepare_with(
        &self,
        schedule: Schedule,
        scratch: impl FnOnce(&Schedule) -> Option<Vec<Owned<wgpu::Buffer>>>,
    ) -> Result<Prepared, ExecuteError> {
        let inner = &self.inner;
        inner.check_alive()?;
        schedule.check(&inner.limits)?;
        let label = schedule.kernel();
        log::debug!("{label}: {} scratch bytes", schedule.scratch_bytes());
        let pipelines = self.compile(&schedule).await?;
        let no_room = |error| {
            let bytes = schedule.constants_bytes();
            ExecuteError::OutOfMemory(format!("{bytes} bytes of uniforms and window tables on the host: {error}"))
        };
        let constants = schedule.constants().map_err(no_room)?;
        let buffers = || {
            let usages = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE;
            let constants = inner.filled_buffer("wgpu-pooling constants", usages, &constants);
            let status = if reports(&schedule) { None } else { inner.status_buffer(&schedule) };
            (constants, status, scratch(&schedule))
        };
        let (constants, status, scratch) = inner.scoped(buffers).await?;
        self.inner.probe()?;
        let resources = Arc::new(Resources { label, pipelines, constants, scratch, status });
        Ok(Prepared { gpu: self.clone(), schedule: Arc::new(schedule), resources })
    }

    /// The same for a one-shot call, which leaves what it prepared for the next call with an equal plan.
    pub(super) async fn prepare_kept(&self, plan: Plan) -> Result<Prepared, ExecuteError> {
        if let Some(Preparation { schedule, resources }) = self.inner.kept.find(&plan) {
            return Ok(Prepared { gpu: self.clone(), schedule, resources });
        }
        let prepared = self.prepare(plan).await?;
        let Prepared { schedule, resources, .. } = &prepared;
        self.inner.kept.keep(Preparation { schedule: Arc::clone(schedule), resources: Arc::clone(resources) });
        Ok(prepared)
    }

    /// Compiles the kernels of schedules ahead, so that preparing them later compiles nothing. What was compiled before is left
    /// as it is. Of kernels that nobody holds a [`Prepared`] of, the 128 that were used last are kept, until [`Gpu::trim`].
    ///
    /// # Errors
    /// What compiling can give.
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
        for schedule in schedules {
            self.compile(schedule).await?;
        }
        self.inner.probe()
    }

    /// Gets the kernels of a schedule ready without scratch memory: the blocking twin of [`Gpu::prepare_without_scratch`].
    ///
    /// # Errors
    /// As [`Gpu::prepare_schedule`].
    ///
    /// ```no_run
    /// # fn prepare(gpu: wgpu_pooling::Gpu, schedule: wgpu_pooling::Schedule) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let prepared = gpu.prepare_without_scratch_blocking(schedule)?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn prepare_without_scratch_blocking(&self, schedule: Schedule) -> Result<Prepared, ExecuteError> {
        pollster::block_on(self.prepare_without_scratch(schedule))
    }

    /// Compiles the kernels of schedules ahead: the blocking twin of [`Gpu::warm_up`].
    ///
    /// # Errors
    /// As [`Gpu::warm_up`].
    ///
    /// ```no_run
    /// # fn warm_up(gpu: wgpu_pooling::Gpu, schedule: wgpu_pooling::Schedule) -> Result<(), wgpu_pooling::ExecuteError> {
    /// gpu.warm_up_blocking(&[schedule])?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn warm_up_blocking(&self, schedules: &[Schedule]) -> Result<(), ExecuteError> {
        pollster::block_on(self.warm_up(schedules))
    }

    async fn compile(&self, schedule: &Schedule) -> Result<Vec<Arc<Pipeline>>, ExecuteError> {
        let mut pipelines = Vec::with_capacity(schedule.dispatches.len());
        for dispatch in &schedule.dispatches {
            pipelines.push(self.inner.pipeline(dispatch).await?);
        }
        Ok(pipelines)
    }

    /// Selects kernels for a plan and gets them ready: the blocking twin of [`Gpu::prepare`].
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

    /// Gets the kernels of a schedule ready: the blocking twin of [`Gpu::prepare_schedule`].
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

/// Whether somebody wants to read the report.
fn reports(schedule: &Schedule) -> bool {
    match &schedule.plan {
        Plan::Pool(_) => false,
        Plan::Unpool(plan) => plan.out_of_bounds == OutOfBounds::Error,
        Plan::Convert(_) => true,
    }
}

impl Inner {
    /// The scratch memory that a schedule declares.
    fn scratch_buffers(&self, schedule: &Schedule) -> Vec<Owned<wgpu::Buffer>> {
        let buffer = |&bytes: &u64| self.output_buffer("wgpu-pooling scratch", SCRATCH_USAGES, bytes);
        schedule.scratch.iter().map(buffer).collect()
    }

    /// Where an unpool that reports nothing keeps its report.
    fn status_buffer(&self, schedule: &Schedule) -> Option<Owned<wgpu::Buffer>> {
        let buffer = |bytes| self.output_buffer("wgpu-pooling status", wgpu::BufferUsages::STORAGE, bytes);
        schedule.status_bytes().map(buffer)
    }
}

impl Prepared {
    /// What will run.
    ///
    /// ```no_run
    /// # fn f(pool: wgpu_pooling::Prepared) {
    /// println!("{}: {} bytes of scratch memory", pool.schedule().kernel(), pool.schedule().scratch_bytes());
    /// # }
    /// ```
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Writes the dispatches into a command encoder, as one compute pass. Nothing is submitted, and no buffer is allocated.
    ///
    /// Encoder and buffers have to be this device's, which is the caller's part: wgpu refuses those of another device, but cannot
    /// tell those of another instance, which it may take for others of this device's.
    ///
    /// # Errors
    /// [`ExecuteError::BufferMissing`], [`ExecuteError::BufferTooShort`], [`ExecuteError::BufferMisaligned`],
    /// [`ExecuteError::BufferUsage`] and [`ExecuteError::BufferShared`], and what wgpu itself refuses, a destroyed buffer for
    /// example. The encoder is then as it was before.
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
        let bound = self.check(&buffers)?;
        self.gpu.inner.probe()?;
        let (groups, _) = self.groups(&bound)?;
        let all = 0..self.schedule.dispatches.len();
        self.gpu.inner.scoped_now(|| self.record(encoder, &bound, &groups, all, None)).map(|_| ())
    }

    /// Writes the dispatches into an open compute pass. Pipeline and bind group 0 of the pass are others afterwards.
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
        let bound = self.check(&buffers)?;
        self.gpu.inner.probe()?;
        let (groups, _) = self.groups(&bound)?;
        let all = 0..self.schedule.dispatches.len();
        self.gpu.inner.scoped_now(|| self.dispatch(pass, &bound, &groups, all)).map(|_| ())
    }

    /// Writes some of the dispatches as one compute pass, with timestamps around it if they are asked for.
    pub(super) fn record(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bound: &[Bound<'_>],
        groups: &Groups,
        dispatches: Range<usize>,
        timestamp_writes: Option<wgpu::ComputePassTimestampWrites<'_>>,
    ) {
        let label = Some(self.resources.label.as_str());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
        self.dispatch(&mut pass, bound, groups, dispatches);
    }

    /// The same for calls that may block their thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub(super) fn polling(&self) -> Prepared {
        let Prepared { gpu, schedule, resources } = self;
        Prepared { gpu: gpu.polling(), schedule: Arc::clone(schedule), resources: Arc::clone(resources) }
    }

    /// Whether a run has a report that somebody wants to read.
    pub(super) fn reports(&self) -> bool {
        reports(&self.schedule)
    }

    /// What a run needs beside its tensors: nothing unless the schedule was prepared without scratch memory, or another run
    /// may come between two submits of this one.
    pub(super) fn missing(&self, several_submits: bool) -> Missing {
        let inner = &self.gpu.inner;
        let scratch = several_submits || self.resources.scratch.is_none();
        Missing {
            scratch: if scratch { inner.scratch_buffers(&self.schedule) } else { Vec::new() },
            status: if several_submits && !self.reports() { inner.status_buffer(&self.schedule) } else { None },
        }
    }

    /// The slices that the dispatches use, checked and cut to what is needed.
    pub(super) fn check<'a>(&'a self, buffers: &Buffers<'a>) -> Result<Vec<Bound<'a>>, ExecuteError> {
        self.gpu.inner.check_alive()?;
        let schedule = &self.schedule;
        let own_status = self.resources.status.as_ref().map(|buffer| buffer.slice(..));
        // Name, slot, slice, bytes needed, whether it is written.
        let slices = [
            ("x", Slot::X, buffers.x, schedule.x_bytes(), false),
            ("y", Slot::Y, buffers.y, schedule.y_bytes(), true),
            ("indices", Slot::Indices, buffers.indices, schedule.indices_bytes(), false),
            ("the indices to write", Slot::IndicesOut, buffers.indices_out, schedule.indices_out_bytes(), true),
            ("the report", Slot::Status, buffers.status.or(own_status), schedule.status_bytes(), true),
        ];
        let mut bound: Vec<Bound<'a>> = Vec::new();
        for (what, slot, slice, bytes, written) in slices {
            let Some(needed) = bytes.filter(|_| self.uses(slot)) else {
                continue;
            };
            self.bind(&mut bound, what, slot, slice, needed, written)?;
        }
        for (number, &needed) in schedule.scratch.iter().enumerate() {
            let own = self.resources.scratch.as_ref().and_then(|own| own.get(number)).map(|buffer| buffer.slice(..));
            // The caller brings all of it or nothing.
            let slice = if buffers.scratch.is_empty() { own } else { buffers.scratch.get(number).copied() };
            self.bind(&mut bound, "scratch memory", Slot::Scratch(number), slice, needed, true)?;
        }
        Ok(bound)
    }

    /// Takes up a slice if the device can use it as what it is meant for.
    fn bind<'a>(
        &self,
        bound: &mut Vec<Bound<'a>>,
        what: &'static str,
        slot: Slot,
        slice: Option<wgpu::BufferSlice<'a>>,
        needed: u64,
        written: bool,
    ) -> Result<(), ExecuteError> {
        let slice = slice.ok_or(ExecuteError::BufferMissing { what })?;
        let (offset, alignment) = (slice.offset(), self.gpu.inner.alignment);
        let usages = slice.buffer().usage();
        if !usages.contains(wgpu::BufferUsages::STORAGE) {
            return Err(ExecuteError::BufferUsage { what, usage: "STORAGE" });
        }
        if matches!(slot, Slot::Scratch(_)) && !usages.contains(wgpu::BufferUsages::INDIRECT) {
            return Err(ExecuteError::BufferUsage { what, usage: "INDIRECT" });
        }
        if slice.size() < needed {
            return Err(ExecuteError::BufferTooShort { what, needed, actual: slice.size() });
        }
        if !offset.is_multiple_of(alignment) {
            return Err(ExecuteError::BufferMisaligned { what, offset, alignment });
        }
        let shared = |other: &&Bound<'_>| (written || other.written) && other.slice.buffer() == slice.buffer();
        if let Some(other) = bound.iter().find(shared) {
            return Err(ExecuteError::BufferShared { first: other.what, second: what });
        }
        bound.push(Bound { what, slot, slice: slice.slice(..needed), written });
        Ok(())
    }

    fn uses(&self, slot: Slot) -> bool {
        self.schedule.dispatches.iter().any(|dispatch| dispatch.slots.iter().any(|part| part.slot == slot))
    }

    /// The bind groups of all dispatches. They are made, and found good, before anything is recorded, so that a refused call
    /// leaves the caller's encoder as it was.
    pub(super) fn groups(&self, bound: &[Bound<'_>]) -> Result<(Groups, Option<Verdict>), ExecuteError> {
        self.gpu.inner.scoped_now(|| {
            let tables = self.resources.constants.slice(self.schedule.constants_offsets().last().unwrap_or(0)..);
            let dispatches =
                self.schedule.dispatches.iter().zip(&self.resources.pipelines).zip(self.schedule.constants_offsets());
            dispatches
                .map(|((dispatch, pipeline), uniform)| self.group(dispatch, pipeline, uniform, tables, bound))
                .collect()
        })
    }

    fn group(
        &self,
        dispatch: &Dispatch,
        pipeline: &Pipeline,
        uniform: u64,
        tables: wgpu::BufferSlice<'_>,
        bound: &[Bound<'_>],
    ) -> Owned<wgpu::BindGroup> {
        let resource = |binding: u32, buffer, offset, size: u64| wgpu::BindGroupEntry {
            binding,
            resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer,
                offset,
                size: wgpu::BufferSize::new(size),
            }),
        };
        let mut entries = Vec::with_capacity(1 + dispatch.slots.len());
        entries.push(resource(0, &self.resources.constants, uniform, dispatch.uniform.len() as u64));
        for (&number, part) in pipeline.bindings.iter().zip(&dispatch.slots) {
            let whole = if part.slot == Slot::Tables { Some(tables) } else { of(bound, part.slot) };
            // `check` has found every slice that a dispatch uses.
            if let Some(whole) = whole {
                let (offset, size) = (whole.offset() + part.offset, part.bytes.unwrap_or(whole.size()));
                entries.push(resource(number, whole.buffer(), offset, size));
            }
        }
        let device = &self.gpu.inner.device;
        device.gate().own(device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&pipeline.name),
            layout: &pipeline.layout,
            entries: &entries,
        }))
    }

    fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bound: &[Bound<'_>],
        groups: &Groups,
        dispatches: Range<usize>,
    ) {
        let all = self.schedule.dispatches.iter().zip(&self.resources.pipelines).zip(groups.iter());
        for ((dispatch, pipeline), group) in all.skip(dispatches.start).take(dispatches.len()) {
            pass.set_pipeline(&pipeline.pipeline);
            pass.set_bind_group(0, &**group, &[]);
            match dispatch.indirect.and_then(|(number, at)| Some((of(bound, Slot::Scratch(number))?, at))) {
                Some((grids, at)) => pass.dispatch_workgroups_indirect(grids.buffer(), grids.offset() + at),
                None => {
                    let [x, y, z] = dispatch.grid;
                    pass.dispatch_workgroups(x, y, z);
                }
            }
        }
    }
}

/// The bind group of each dispatch.
pub(super) type Groups = Vec<Owned<wgpu::BindGroup>>;

/// What a run needs beside its tensors and has to allocate.
pub(super) struct Missing {
    pub scratch: Vec<Owned<wgpu::Buffer>>,
    pub status: Option<Owned<wgpu::Buffer>>,
}

/// The slice that was given for a slot.
fn of<'a>(bound: &[Bound<'a>], slot: Slot) -> Option<wgpu::BufferSlice<'a>> {
    bound.iter().find(|bound| bound.slot == slot).map(|bound| bound.slice)
}

/// A slice that a schedule uses.
pub(super) struct Bound<'a> {
    what: &'static str,
    slot: Slot,
    slice: wgpu::BufferSlice<'a>,
    written: bool,
}
