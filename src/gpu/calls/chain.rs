//! Steps on device tensors, recorded one after the other: one submit, one readback.

use std::marker::PhantomData;
use std::sync::Arc;

use wgpu_pooling_plan::{Element, ExecuteError, IndexSpace, Layout, Plan, TensorRef, TensorSpec};

use super::device_tensor::DeviceTensor;
use super::gpu::Gpu;
use super::prepare::Prepared;
use super::results::{
    BufferLifetime, ReadBack, Readback, Recorded, Results, StagingPlace, Submitted, TIMESTAMP_BYTES, Unwaited,
};
use crate::gpu::device::gate::Owned;
use crate::gpu::device::memory::TENSOR_USAGES;
use crate::gpu::device::polling::{Submission, map_on_submit};
use crate::gpu::device::{OpenDevice, PendingErrors};
use crate::gpu::prepared::encode::Buffers;
use crate::gpu::prepared::preparation::{Missing, Preparation};
use crate::kernel::Operand;
use crate::report::Report;
use crate::schedule::Schedule;

/// Plans on device tensors, each a step, recorded one after the other and submitted as one. Intermediate tensors never
/// leave the device; tensors to read back come to the host in one buffer, together with the reports of bad indices.
///
/// Dropping a chain submits nothing. Its uploads are queued as by [`Gpu::upload`].
///
/// ```no_run
/// use wgpu_pooling::{AdaptiveMaxPool, DType, Gpu, IndexType, Layout, MaxPool, MaxUnpool, Tensor};
///
/// let gpu = Gpu::new_blocking()?;
/// let x = Tensor::new([1, 1, 2, 4], vec![1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let unpool = MaxUnpool::inverse_of(&pool, x.shape());
/// // Prepared once, used for any number of chains.
/// let pool = gpu.prepare_blocking(pool.plan(x.shape(), DType::F32, Some(IndexType::I64))?)?;
/// let unpool = gpu.prepare_blocking(unpool.plan(pool.schedule().output_shape(), DType::F32, IndexType::I64)?)?;
/// let grid = gpu.prepare_blocking(AdaptiveMaxPool::new([1, 3]).plan(x.shape(), DType::F32, None)?)?;
///
/// let mut chain = gpu.chain();
/// let x = chain.upload(x.view(), Layout::Nchw)?;
/// let [y, indices] = chain.step(&pool, &[&x])?;
/// let [back] = chain.step(&unpool, &[&y, &indices])?;
/// let [grid] = chain.step(&grid, &[&back])?;
/// let grid = chain.read_back::<f32>(&grid)?;
/// let results = chain.run_blocking()?;
/// assert_eq!(results.take(grid)?.data(), &[5.0, 7.0, 7.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
pub struct Chain {
    gpu: Gpu,
    encoder: Owned<wgpu::CommandEncoder>,
    id: Arc<()>,
    steps: Vec<Recorded>,
    staged: Vec<Staged>,
    /// The bytes of each staging buffer. There is one, unless the readbacks exceed the device's largest buffer.
    staging_bytes: Vec<u64>,
    timed: bool,
    lifetime: BufferLifetime,
    /// The errors of the work so far that wgpu has not reported yet.
    pending: PendingErrors,
}

/// A range of a buffer that is copied to the host.
#[derive(Debug)]
struct Staged {
    buffer: Owned<wgpu::Buffer>,
    offset: u64,
    bytes: u64,
    place: StagingPlace,
}

/// The alignment of copied ranges in the staging buffer: mapped ranges begin at multiples of 8.
const STAGED_ALIGNMENT: u64 = 8;

impl Gpu {
    /// An empty chain.
    ///
    /// ```no_run
    /// let gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// let chain = gpu.chain();
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn chain(&self) -> Chain {
        let (encoder, error) = self.inner.device.scoped_later(|| new_encoder(&self.inner.device));
        Chain {
            gpu: self.clone(),
            encoder,
            id: Arc::new(()),
            steps: Vec::new(),
            staged: Vec::new(),
            staging_bytes: vec![0],
            timed: false,
            lifetime: BufferLifetime::Staging,
            pending: PendingErrors(vec![error]),
        }
    }
}

impl Chain {
    /// Measures every later step with the device's timestamps, on devices opened with
    /// [`GpuOptions::timestamps`](crate::GpuOptions::timestamps), or by the caller with `Features::TIMESTAMP_QUERY`. On
    /// other devices nothing is measured, and [`Results::timings`] returns `None`.
    ///
    /// ```no_run
    /// # fn f(gpu: wgpu_pooling::Gpu) {
    /// let chain = gpu.chain().timed();
    /// # }
    /// ```
    pub fn timed(mut self) -> Self {
        self.timed = self.gpu.device().features().contains(wgpu::Features::TIMESTAMP_QUERY);
        self
    }

    /// A chain of a one-shot call. Only the call has handles on its tensors, so they return to the buffer pool. A long
    /// step is submitted slice by slice.
    pub(super) fn one_shot(mut self) -> Self {
        self.lifetime = BufferLifetime::Tensors(Vec::new());
        self
    }

    /// A chain that neither takes buffers from the pool nor returns them, so that it holds no more memory than it
    /// accounts for.
    pub(super) fn on_its_own(mut self) -> Self {
        self.lifetime = BufferLifetime::Nothing;
        self
    }

    /// The command encoder, for the caller's own passes between the steps. It must not be replaced: the chain submits
    /// this encoder only.
    ///
    /// ```no_run
    /// # fn f(mut chain: wgpu_pooling::Chain, from: wgpu_pooling::wgpu::Buffer, to: wgpu_pooling::wgpu::Buffer) {
    /// chain.encoder().copy_buffer_to_buffer(&from, 0, &to, 0, 256);
    /// # }
    /// ```
    pub fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        &mut self.encoder
    }

    /// Copies a host tensor to the device: a [`TensorView`](crate::TensorView), a `&`[`Tensor`](crate::Tensor) or a
    /// [`TensorRef`]. The bytes are copied before this returns; if more than 64 MiB of copies are queued, they are
    /// submitted at once, as [`Gpu::upload`] says.
    ///
    /// # Errors
    /// As [`Gpu::upload`].
    ///
    /// ```no_run
    /// # fn f(mut chain: wgpu_pooling::Chain) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{Layout, TensorView};
    /// let x = chain.upload(TensorView::new(&[1, 1, 2], &[1.0f32, 2.0])?, Layout::Nchw)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload<'a>(&mut self, x: impl Into<TensorRef<'a>>, layout: Layout) -> Result<DeviceTensor, ExecuteError> {
        let x = x.into();
        let pooled = matches!(self.lifetime, BufferLifetime::Tensors(_));
        let (buffer, error) = self.gpu.tensor_of(&x, pooled)?;
        self.pending.0.extend(error);
        if let BufferLifetime::Tensors(tensors) = &mut self.lifetime {
            tensors.push(buffer.clone());
        }
        let spec = TensorSpec { shape: x.shape().to_vec(), dtype: x.dtype(), layout };
        Ok(DeviceTensor::whole(&self.gpu, buffer, spec))
    }

    /// Computes a prepared plan on tensors of the device, into new tensors. The caller's array pattern must have one
    /// name for each output of the plan.
    ///
    /// # Errors
    /// [`PlanError::OperandCount`](crate::PlanError::OperandCount), [`ExecuteError::TypeMismatch`],
    /// [`ExecuteError::ShapeMismatch`], [`ExecuteError::LayoutMismatch`] and [`ExecuteError::OtherGpu`] if the tensors
    /// are not the plan's; [`PlanError::IndexSpaceMismatch`](crate::PlanError) for indices that are known to be of
    /// another convention; otherwise the errors of allocating the outputs. The chain is then unchanged.
    ///
    /// ```no_run
    /// # fn f(pool: wgpu_pooling::Prepared, mut chain: wgpu_pooling::Chain, x: wgpu_pooling::DeviceTensor)
    /// # -> Result<(), wgpu_pooling::ExecuteError> {
    /// let [y, indices] = chain.step(&pool, &[&x])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn step<const O: usize>(
        &mut self,
        prepared: &Prepared,
        inputs: &[&DeviceTensor],
    ) -> Result<[DeviceTensor; O], ExecuteError> {
        let schedule = prepared.schedule();
        check_inputs(schedule, inputs)?;
        schedule.plan().check_count("outputs", schedule.plan().outputs(), O)?;
        let missing = |_| ExecuteError::BufferMissing { what: "an output" };
        self.record(prepared, inputs, &[])?.try_into().map_err(missing)
    }

    /// Computes a prepared plan on tensors of the device, into existing tensors, such as the previous frame's.
    ///
    /// # Errors
    /// As [`Chain::step`]; [`ExecuteError::BufferOverlap`] and [`ExecuteError::BufferShared`] for tensors that share
    /// memory.
    ///
    /// ```no_run
    /// # fn f(pool: wgpu_pooling::Prepared, mut chain: wgpu_pooling::Chain, x: wgpu_pooling::DeviceTensor,
    /// # y: wgpu_pooling::DeviceTensor) -> Result<(), wgpu_pooling::ExecuteError> {
    /// chain.step_into(&pool, &[&x], &[&y])?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn step_into(
        &mut self,
        prepared: &Prepared,
        inputs: &[&DeviceTensor],
        outputs: &[&DeviceTensor],
    ) -> Result<(), ExecuteError> {
        let schedule = prepared.schedule();
        check_inputs(schedule, inputs)?;
        schedule.plan().check_count("outputs", schedule.plan().outputs(), outputs.len())?;
        let expected = schedule.output_operands().iter().zip(schedule.plan().outputs());
        for ((&operand, expected), tensor) in expected.zip(outputs) {
            tensor.check_spec(name(operand), expected)?;
            check_space(written_space(schedule.plan()).filter(|_| operand == Operand::IndicesOut), tensor)?;
        }
        self.record(prepared, inputs, outputs).map(|_| ())
    }

    /// Requests a tensor's elements, as they are at the end of the chain.
    ///
    /// # Errors
    /// [`ExecuteError::ReadBackType`], [`ExecuteError::OtherGpu`], and [`ExecuteError::BufferUsage`] if a caller's
    /// buffer lacks the usage `COPY_SRC`.
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Chain, DeviceTensor, ExecuteError};
    /// # fn f(mut chain: Chain, y: DeviceTensor) -> Result<(), ExecuteError> {
    /// let y = chain.read_back::<f32>(&y)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_back<T: Element>(&mut self, tensor: &DeviceTensor) -> Result<ReadBack<T>, ExecuteError> {
        if tensor.dtype() != T::DTYPE {
            return Err(ExecuteError::ReadBackType { tensor: tensor.dtype().name(), asked: T::DTYPE.name() });
        }
        let place = self.read_back_bytes(tensor)?;
        Ok(ReadBack { chain: Arc::clone(&self.id), place, shape: tensor.shape().to_vec(), element: PhantomData })
    }

    /// Requests a tensor's bytes.
    pub(super) fn read_back_bytes(&mut self, tensor: &DeviceTensor) -> Result<StagingPlace, ExecuteError> {
        let what = "tensor";
        tensor.check_gpu(what, &self.gpu)?;
        let slice = tensor.slice();
        if !slice.buffer().usage().contains(wgpu::BufferUsages::COPY_SRC) {
            return Err(ExecuteError::BufferUsage { what, usage: "COPY_SRC" });
        }
        let buffer = self.gpu.inner.device.wgpu.gate().own(slice.buffer().clone());
        Ok(self.stage(buffer, slice.offset(), tensor.bytes()))
    }

    /// Submits the chain, without waiting.
    ///
    /// # Errors
    /// [`ExecuteError::DeviceLost`], [`ExecuteError::OutOfMemory`] or another error of the device.
    ///
    /// ```no_run
    /// # async fn f(chain: wgpu_pooling::Chain) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let submitted = chain.submit()?;
    /// // Something else in the meantime.
    /// let results = submitted.results().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn submit(self) -> Result<Submitted, ExecuteError> {
        let Chain { gpu, mut encoder, id, steps, staged, staging_bytes, timed, pending, lifetime } = self;
        let device = &gpu.inner.device;
        device.check_alive()?;
        // A chain with a known error is not submitted.
        let asked = pending.0.into_iter().map(|error| device.poll_error(error)).collect::<Result<Vec<_>, _>>()?;
        let mut pending = PendingErrors(asked.into_iter().flatten().collect());
        let again = !matches!(lifetime, BufferLifetime::Nothing);
        let buffers =
            || staging_bytes.iter().map(|&bytes| device.memory.staging_buffer(bytes, again)).collect::<Vec<_>>();
        let (staging, error) = device.scoped_now(buffers)?;
        pending.0.extend(error);
        let ((submission, readbacks), error) = device.scoped_now(|| {
            for Staged { buffer, offset, bytes, place } in &staged {
                encoder.copy_buffer_to_buffer(buffer, *offset, &staging[place.staging], place.at, *bytes);
            }
            let (mut answers, mut readbacks) = (Vec::new(), Vec::new());
            for staging in staging {
                let (answer, mapped) = map_on_submit(device.wgpu.gate(), &mut encoder, &staging);
                answers.push(answer);
                readbacks.push(Readback { staging, mapped });
            }
            let index = device.submit(Some(encoder.into_inner().finish()));
            (Submission { index, answers }, readbacks)
        })?;
        pending.0.extend(error);
        let read_back_bytes = staging_bytes.iter().sum();
        let submission = Unwaited::new(&gpu, submission);
        Ok(Submitted { gpu, id, steps, readbacks, read_back_bytes, timed, pending, submission, lifetime })
    }

    /// Submits the chain and waits for its results.
    ///
    /// # Errors
    /// As [`Chain::submit`] and [`Submitted::results`].
    ///
    /// ```no_run
    /// # async fn f(chain: wgpu_pooling::Chain) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let results = chain.run().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(self) -> Result<Results, ExecuteError> {
        self.submit()?.results().await
    }

    /// Submits the chain and waits for its results: the blocking twin of [`Chain::run`].
    ///
    /// # Errors
    /// As [`Chain::run`].
    ///
    /// ```no_run
    /// # fn f(chain: wgpu_pooling::Chain) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let results = chain.run_blocking()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(mut self) -> Result<Results, ExecuteError> {
        self.gpu.polls = true;
        pollster::block_on(self.run())
    }

    /// Records a schedule. Its outputs are the given tensors or, where none are given, fresh ones, which are returned.
    pub(super) fn record(
        &mut self,
        prepared: &Prepared,
        inputs: &[&DeviceTensor],
        given: &[&DeviceTensor],
    ) -> Result<Vec<DeviceTensor>, ExecuteError> {
        let Chain { gpu, encoder, timed, lifetime, pending, .. } = self;
        let (device, preparation) = (&gpu.inner.device, &prepared.preparation);
        let schedule = &preparation.schedule;
        device.check_alive()?;
        prepared.gpu.check_same(schedule.plan().kind(), gpu)?;
        let (read, written) = (schedule.input_operands(), schedule.output_operands());
        let tensors: Vec<_> = read.iter().zip(inputs).chain(written.iter().zip(given)).collect();
        for (operand, tensor) in &tensors {
            tensor.check_gpu(name(**operand), gpu)?;
        }
        let slice = |operand| tensors.iter().find(|(own, _)| **own == operand).map(|(_, tensor)| tensor.slice());
        // Buffers are allocated before anything is recorded: recording an invalid buffer would invalidate the encoder
        // for all other steps.
        let all = 0..schedule.dispatches.len();
        let slices = if let BufferLifetime::Tensors(_) = lifetime { schedule.slices() } else { Vec::from([all]) };
        let (outputs, error) = device
            .scoped_now(|| StepBuffers::new(device, preparation, *timed, slices.len(), given.is_empty(), lifetime))?;
        pending.0.extend(error);
        let scratch: Vec<_> = outputs.missing.scratch.iter().map(whole).collect();
        let buffers = Buffers {
            x: slice(Operand::X),
            y: slice(Operand::Y).or(outputs.y.as_ref().map(whole)),
            indices: slice(Operand::Indices),
            indices_out: slice(Operand::IndicesOut).or(outputs.indices.as_ref().map(whole)),
            report: outputs.report.as_ref().or(outputs.missing.report.as_ref()).map(whole),
            scratch: &scratch,
        };
        let (bindings, error) = preparation.bind(device, &buffers, name)?;
        pending.0.extend(error);
        let (times, error) = device.scoped_now(|| {
            if schedule.dispatches.is_empty() {
                return None;
            }
            for (number, slice) in slices.into_iter().enumerate() {
                // Each slice is submitted separately, so that no driver's watchdog resets the device.
                if number > 0 {
                    let recorded = std::mem::replace(encoder, new_encoder(device));
                    device.submit(Some(recorded.into_inner().finish()));
                }
                preparation.record(encoder, &bindings, slice, outputs.clock.as_ref().map(Clock::writes));
            }
            outputs.clock.as_ref().map(|clock| clock.resolve(encoder))
        })?;
        pending.0.extend(error);
        let StepBuffers { y, indices: indices_out, report, .. } = outputs;
        let report = report.map(|buffer| self.stage(buffer, 0, Report::BYTES));
        let timestamps = times.map(|buffer| self.stage(buffer, 0, TIMESTAMP_BYTES));
        self.steps.push(Recorded { schedule: Arc::clone(schedule), report, timestamps });
        // Y precedes Indices in a plan's outputs too.
        let buffers = y.into_iter().chain(indices_out).zip(schedule.plan().outputs());
        let space = written_space(schedule.plan());
        let tensor = |((buffer, spec), &operand): ((_, &TensorSpec), &Operand)| {
            let space = space.filter(|_| operand == Operand::IndicesOut);
            DeviceTensor::whole(&self.gpu, buffer, spec.clone()).of_space(space)
        };
        Ok(buffers.zip(schedule.output_operands()).map(tensor).collect())
    }

    /// Reserves a range of a staging buffer for a readback.
    fn stage(&mut self, buffer: Owned<wgpu::Buffer>, offset: u64, bytes: u64) -> StagingPlace {
        let at = self.staging_bytes.last().map_or(0, |bytes| bytes.next_multiple_of(STAGED_ALIGNMENT));
        // A range that does not fit beside earlier ranges gets its own staging buffer. Alone it fits, since the buffer
        // that it is copied from is no smaller.
        let place = if self.staging_bytes.is_empty() || at + bytes > self.gpu.inner.device.limits.max_buffer_bytes {
            self.staging_bytes.push(bytes);
            StagingPlace { staging: self.staging_bytes.len() - 1, at: 0 }
        } else {
            let staging = self.staging_bytes.len() - 1;
            self.staging_bytes[staging] = at + bytes;
            StagingPlace { staging, at }
        };
        self.staged.push(Staged { buffer, offset, bytes, place });
        place
    }
}

/// Refuses inputs that do not match the plan.
fn check_inputs(schedule: &Schedule, inputs: &[&DeviceTensor]) -> Result<(), ExecuteError> {
    schedule.plan().check_count("inputs", schedule.plan().inputs(), inputs.len())?;
    for ((&operand, expected), tensor) in schedule.input_operands().iter().zip(schedule.plan().inputs()).zip(inputs) {
        tensor.check_spec(name(operand), expected)?;
        check_space(read_space(schedule.plan()).filter(|_| operand == Operand::Indices), tensor)?;
    }
    Ok(())
}

/// Refuses indices that are known to be of another convention than the plan's.
fn check_space(expected: Option<&IndexSpace>, tensor: &DeviceTensor) -> Result<(), ExecuteError> {
    match (expected, tensor.index_space()) {
        (Some(expected), Some(actual)) => Ok(expected.check_indices(actual)?),
        _ => Ok(()),
    }
}

/// The convention of the indices that a plan reads.
fn read_space(plan: &Plan) -> Option<&IndexSpace> {
    plan.index_space().filter(|_| matches!(plan, Plan::Unpool(_)))
}

/// The convention of the indices that a plan writes.
fn written_space(plan: &Plan) -> Option<&IndexSpace> {
    plan.index_space().filter(|_| matches!(plan, Plan::Pool(_)))
}

/// What errors call an operand.
fn name(operand: Operand) -> &'static str {
    if operand == Operand::IndicesOut { "indices" } else { operand.field() }
}

fn new_encoder(device: &OpenDevice) -> Owned<wgpu::CommandEncoder> {
    let label = Some("wgpu-pooling chain");
    device.wgpu.gate().own(device.wgpu.create_command_encoder(&wgpu::CommandEncoderDescriptor { label }))
}

fn whole(buffer: &Owned<wgpu::Buffer>) -> wgpu::BufferSlice<'_> {
    buffer.slice(..)
}

/// The buffers that a step allocates.
struct StepBuffers {
    y: Option<Owned<wgpu::Buffer>>,
    indices: Option<Owned<wgpu::Buffer>>,
    report: Option<Owned<wgpu::Buffer>>,
    missing: Missing,
    clock: Option<Clock>,
}

impl StepBuffers {
    fn new(
        device: &OpenDevice,
        preparation: &Preparation,
        timed: bool,
        submits: usize,
        fresh: bool,
        lifetime: &mut BufferLifetime,
    ) -> StepBuffers {
        let schedule = &preparation.schedule;
        let mut output = |what: &str, bytes: u64| {
            let BufferLifetime::Tensors(tensors) = lifetime else {
                return device.memory.output_buffer(what, TENSOR_USAGES, bytes);
            };
            let buffer = device.memory.pooled_output_buffer(what, bytes);
            tensors.push(buffer.clone());
            buffer
        };
        // A step without dispatches has no report and no timing.
        let works = !schedule.dispatches.is_empty();
        let reported = schedule.operand_bytes(Operand::Report).filter(|_| works && preparation.reports());
        StepBuffers {
            y: schedule.operand_bytes(Operand::Y).filter(|_| fresh).map(|bytes| output("wgpu-pooling y", bytes)),
            indices: schedule
                .operand_bytes(Operand::IndicesOut)
                .filter(|_| fresh)
                .map(|bytes| output("wgpu-pooling indices", bytes)),
            report: reported.map(|bytes| match schedule.keeps_report() {
                true => device.memory.zeroed_buffer("wgpu-pooling report", TENSOR_USAGES, bytes),
                false => output("wgpu-pooling report", bytes),
            }),
            missing: preparation.missing(&device.memory, submits > 1, output),
            clock: (works && timed).then(|| Clock::new(device)),
        }
    }
}

/// Two timestamps around a step.
struct Clock {
    queries: Owned<wgpu::QuerySet>,
    ticks: Owned<wgpu::Buffer>,
}

impl Clock {
    fn new(device: &OpenDevice) -> Clock {
        let queries = device.memory.allocator.query_set(&wgpu::QuerySetDescriptor {
            label: Some("wgpu-pooling timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let usages = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let ticks = device.memory.zeroed_buffer("wgpu-pooling timestamps", usages, TIMESTAMP_BYTES);
        Clock { queries, ticks }
    }

    fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    fn resolve(&self, encoder: &mut wgpu::CommandEncoder) -> Owned<wgpu::Buffer> {
        encoder.resolve_query_set(&self.queries, 0..2, &self.ticks, 0);
        self.ticks.clone()
    }
}
