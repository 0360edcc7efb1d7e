//! Steps on device tensors, recorded one after the other: one submit, one readback.

use core::time::Duration;
use std::marker::PhantomData;
use std::sync::Arc;

use super::answer::Mapped;
use super::context::{Gpu, Inner, Verdict};
use super::encode::{Buffers, Prepared};
use super::tensor::DeviceTensor;
use super::transfer::TENSOR_USAGES;
use crate::attributes::Layout;
use crate::element::{DType, Element};
use crate::error::ExecuteError;
use crate::plan::{Plan, count};
use crate::reference::{check_shape, check_type};
use crate::schedule::{STATUS_WORDS, Schedule};
use crate::tensor::{Tensor, TensorView};

/// Steps on device tensors, recorded one after the other and submitted as one. What lies between the steps never leaves the
/// device; what is wanted on the host comes back in one buffer, together with the reports of bad indices.
///
/// Dropping a chain submits nothing.
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
/// let (y, indices) = chain.max_pool_with_indices(&pool, &x)?;
/// let back = chain.max_unpool(&unpool, &y, &indices)?;
/// let grid = chain.max_pool(&grid, &back)?;
/// let grid = chain.read_back::<f32>(&grid)?;
/// let results = chain.run_blocking()?;
/// assert_eq!(results.take(grid)?.data(), &[5.0, 7.0, 7.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug)]
pub struct Chain {
    gpu: Gpu,
    encoder: wgpu::CommandEncoder,
    id: Arc<()>,
    steps: Vec<Step>,
    staged: Vec<Staged>,
    staged_bytes: u64,
    timed: bool,
    /// What wgpu has yet to say of the work so far.
    verdicts: Verdicts,
}

/// Verdicts that nobody has asked for yet, or that are not known yet.
struct Verdicts(Vec<Verdict>);

impl std::fmt::Debug for Verdicts {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} verdicts", self.0.len())
    }
}

/// A recorded step, and where its report and its timestamps lie among what is read back.
#[derive(Debug)]
struct Step {
    schedule: Arc<Schedule>,
    report: Option<u64>,
    timestamps: Option<u64>,
}

/// A part of a buffer that is copied to the host.
#[derive(Debug)]
struct Staged {
    buffer: wgpu::Buffer,
    offset: u64,
    bytes: u64,
    at: u64,
}

/// A tensor that a chain will read back; [`Results::take`] gives it.
///
/// ```no_run
/// # fn f(mut chain: wgpu_pooling::Chain, y: wgpu_pooling::DeviceTensor) -> Result<(), wgpu_pooling::ExecuteError> {
/// let wanted: wgpu_pooling::ReadBack<f32> = chain.read_back(&y)?;
/// let y = chain.run_blocking()?.take(wanted)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ReadBack<T> {
    chain: Arc<()>,
    at: u64,
    shape: Vec<usize>,
    element: PhantomData<fn() -> T>,
}

/// The distance of parts in the staging buffer: mapped ranges begin at multiples of 8.
const STAGED_ALIGNMENT: u64 = 8;

/// Two timestamps of 64 bits.
const TIMESTAMP_BYTES: u64 = 16;

impl Gpu {
    /// An empty chain.
    ///
    /// ```no_run
    /// let gpu = wgpu_pooling::Gpu::new_blocking()?;
    /// let chain = gpu.chain();
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn chain(&self) -> Chain {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("wgpu-pooling chain") };
        let (encoder, verdict) = self.inner.judged(|| self.inner.device.create_command_encoder(&descriptor));
        Chain {
            gpu: self.clone(),
            encoder,
            id: Arc::new(()),
            steps: Vec::new(),
            staged: Vec::new(),
            staged_bytes: 0,
            timed: false,
            verdicts: Verdicts(vec![verdict]),
        }
    }
}

impl Chain {
    /// Measures every step that follows with the device's timestamps, where it has them: devices opened with
    /// [`GpuOptions::timestamps`](crate::GpuOptions::timestamps), or by the caller with `Features::TIMESTAMP_QUERY`. Elsewhere
    /// nothing changes, and [`Results::timings`] gives nothing.
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

    /// The command encoder, for passes of the caller's own between the steps.
    ///
    /// ```no_run
    /// # fn f(mut chain: wgpu_pooling::Chain, from: wgpu_pooling::wgpu::Buffer, to: wgpu_pooling::wgpu::Buffer) {
    /// chain.encoder().copy_buffer_to_buffer(&from, 0, &to, 0, 256);
    /// # }
    /// ```
    pub fn encoder(&mut self) -> &mut wgpu::CommandEncoder {
        &mut self.encoder
    }

    /// Copies a host tensor to the device. The copy is made now, so the slice is free again afterwards.
    ///
    /// # Errors
    /// As [`Gpu::upload`].
    ///
    /// ```no_run
    /// # fn f(mut chain: wgpu_pooling::Chain) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{Layout, TensorView};
    /// let x = chain.upload(TensorView::new([1, 1, 2], &[1.0f32, 2.0])?, Layout::Nchw)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn upload<T: Element>(&mut self, x: TensorView<'_, T>, layout: Layout) -> Result<DeviceTensor, ExecuteError> {
        self.gpu.inner.check_alive()?;
        let (buffer, verdict) = self.gpu.inner.scoped_now(|| self.gpu.tensor_of(&x))?;
        self.verdicts.0.extend(verdict);
        Ok(DeviceTensor::whole(&self.gpu, buffer?, x.shape(), T::DTYPE, layout))
    }

    /// The maxima of `x`.
    ///
    /// # Errors
    /// [`ExecuteError::OperatorMismatch`], [`ExecuteError::IndicesMismatch`], [`ExecuteError::TypeMismatch`],
    /// [`ExecuteError::ShapeMismatch`], [`ExecuteError::LayoutMismatch`] and [`ExecuteError::OtherGpu`] if the call does not
    /// fit the plan; otherwise what allocating Y gives. The chain is then as it was before.
    ///
    /// ```no_run
    /// # fn f(pool: wgpu_pooling::Prepared, mut chain: wgpu_pooling::Chain, x: wgpu_pooling::DeviceTensor)
    /// # -> Result<(), wgpu_pooling::ExecuteError> {
    /// let y = chain.max_pool(&pool, &x)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_pool(&mut self, pool: &Prepared, x: &DeviceTensor) -> Result<DeviceTensor, ExecuteError> {
        let plan = pool.values_plan()?;
        check(x, "x", plan.input_shape(), plan.dtype(), plan.layout())?;
        let [y, _] = self.step(pool, Some(x), None)?;
        Ok(DeviceTensor::whole(&self.gpu, y, plan.output_shape(), plan.dtype(), plan.layout()))
    }

    /// The maxima of `x` and where they were found.
    ///
    /// # Errors
    /// As [`Chain::max_pool`].
    ///
    /// ```no_run
    /// # fn f(pool: wgpu_pooling::Prepared, mut chain: wgpu_pooling::Chain, x: wgpu_pooling::DeviceTensor)
    /// # -> Result<(), wgpu_pooling::ExecuteError> {
    /// let (y, indices) = chain.max_pool_with_indices(&pool, &x)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_pool_with_indices(
        &mut self,
        pool: &Prepared,
        x: &DeviceTensor,
    ) -> Result<(DeviceTensor, DeviceTensor), ExecuteError> {
        let (plan, index_plan) = pool.indices_plan()?;
        check(x, "x", plan.input_shape(), plan.dtype(), plan.layout())?;
        let [y, indices] = self.step(pool, Some(x), None)?;
        let dtype = index_plan.index_type.dtype();
        Ok((
            DeviceTensor::whole(&self.gpu, y, plan.output_shape(), plan.dtype(), plan.layout()),
            DeviceTensor::whole(&self.gpu, indices, plan.indices_shape(), dtype, index_plan.space.layout()),
        ))
    }

    /// The values of `x` at the positions that `indices` name, zeros elsewhere. Bad indices are an error of
    /// [`Submitted::results`], unless the plan skips them.
    ///
    /// # Errors
    /// As [`Chain::max_pool`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Chain, DeviceTensor, ExecuteError, Prepared};
    /// # fn f(unpool: Prepared, mut chain: Chain, x: DeviceTensor, indices: DeviceTensor) -> Result<(), ExecuteError> {
    /// let y = chain.max_unpool(&unpool, &x, &indices)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn max_unpool(
        &mut self,
        unpool: &Prepared,
        x: &DeviceTensor,
        indices: &DeviceTensor,
    ) -> Result<DeviceTensor, ExecuteError> {
        let plan = unpool.unpool_plan()?;
        check(x, "x", plan.input_shape(), plan.dtype(), plan.layout())?;
        check(indices, "indices", plan.indices_shape(), plan.index_type().dtype(), plan.space().layout())?;
        let [y, _] = self.step(unpool, Some(x), Some(indices))?;
        Ok(DeviceTensor::whole(&self.gpu, y, plan.output_shape(), plan.dtype(), plan.layout()))
    }

    /// The indices in the second convention. Bad indices are an error of [`Submitted::results`].
    ///
    /// # Errors
    /// As [`Chain::max_pool`].
    ///
    /// ```no_run
    /// # use wgpu_pooling::{Chain, DeviceTensor, ExecuteError, Prepared};
    /// # fn f(conversion: Prepared, mut chain: Chain, indices: DeviceTensor) -> Result<(), ExecuteError> {
    /// let converted = chain.convert_indices(&conversion, &indices)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn convert_indices(
        &mut self,
        conversion: &Prepared,
        indices: &DeviceTensor,
    ) -> Result<DeviceTensor, ExecuteError> {
        let plan = conversion.convert_plan()?;
        check(indices, "indices", plan.input_shape(), plan.from_type().dtype(), plan.from().layout())?;
        let [_, converted] = self.step(conversion, None, Some(indices))?;
        let (dtype, layout) = (plan.to_type().dtype(), plan.to().layout());
        Ok(DeviceTensor::whole(&self.gpu, converted, plan.output_shape(), dtype, layout))
    }

    /// Asks for a tensor's elements, as they will be when all of the chain is done.
    ///
    /// # Errors
    /// [`ExecuteError::TypeMismatch`], [`ExecuteError::OtherGpu`], and [`ExecuteError::BufferUsage`] if a caller's buffer
    /// lacks the usage `COPY_SRC`.
    ///
    /// ```no_run
    /// # fn f(mut chain: wgpu_pooling::Chain, y: wgpu_pooling::DeviceTensor) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let y = chain.read_back::<f32>(&y)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn read_back<T: Element>(&mut self, tensor: &DeviceTensor) -> Result<ReadBack<T>, ExecuteError> {
        let what = "the tensor to read back";
        check_type(what, tensor.dtype().name(), T::DTYPE.name())?;
        tensor.check_gpu(what, &self.gpu)?;
        let slice = tensor.slice();
        if !slice.buffer().usage().contains(wgpu::BufferUsages::COPY_SRC) {
            return Err(ExecuteError::BufferUsage { what, usage: "COPY_SRC" });
        }
        let at = self.stage(slice.buffer().clone(), slice.offset(), tensor.bytes());
        Ok(ReadBack { chain: Arc::clone(&self.id), at, shape: tensor.shape().to_vec(), element: PhantomData })
    }

    /// Submits the chain, without waiting.
    ///
    /// # Errors
    /// [`ExecuteError::DeviceLost`], [`ExecuteError::OutOfMemory`] or what else the device gives.
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
        let Chain { gpu, mut encoder, id, steps, staged: parts, staged_bytes, timed, verdicts } = self;
        let inner = &gpu.inner;
        inner.check_alive()?;
        gpu.check_buffer("bytes to read back", staged_bytes)?;
        // What is known to have failed is not submitted.
        let asked = verdicts.0.into_iter().map(|verdict| inner.ask(verdict)).collect::<Result<Vec<_>, _>>()?;
        let mut verdicts = Verdicts(asked.into_iter().flatten().collect());
        let (staging, verdict) = inner.scoped_now(|| inner.staging_buffer(staged_bytes))?;
        verdicts.0.extend(verdict);
        let ((answer, mapped, submission), verdict) = inner.scoped_now(|| {
            for Staged { buffer, offset, bytes, at } in &parts {
                encoder.copy_buffer_to_buffer(buffer, *offset, &staging, *at, *bytes);
            }
            let (answer, mapped) = inner.map_on_submit(&mut encoder, &staging);
            (answer, mapped, inner.queue.submit([encoder.finish()]))
        })?;
        verdicts.0.extend(verdict);
        #[cfg(not(target_arch = "wasm32"))]
        inner.poller.watch(submission, answer)?;
        #[cfg(target_arch = "wasm32")]
        let _ = (submission, answer);
        let readback = Readback { staging, mapped };
        Ok(Submitted { gpu, id, steps, readback, staged_bytes, timed, verdicts })
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
    pub fn run_blocking(self) -> Result<Results, ExecuteError> {
        pollster::block_on(self.run())
    }

    /// Records a schedule; its outputs are fresh buffers: Y, and the indices that are written. Where the schedule has no such
    /// output the buffer is the other one.
    fn step(
        &mut self,
        prepared: &Prepared,
        x: Option<&DeviceTensor>,
        indices: Option<&DeviceTensor>,
    ) -> Result<[wgpu::Buffer; 2], ExecuteError> {
        let Chain { gpu, encoder, timed, verdicts, .. } = self;
        let (inner, schedule) = (&gpu.inner, &prepared.schedule);
        inner.check_alive()?;
        prepared.gpu.check_same("the prepared schedule", gpu)?;
        for (what, tensor) in [("x", x), ("indices", indices)] {
            tensor.map_or(Ok(()), |tensor| tensor.check_gpu(what, gpu))?;
        }
        // Nothing is recorded with a buffer that could not be made: that would spoil the encoder for all other steps.
        let (outputs, verdict) = inner.scoped_now(|| Outputs::new(inner, prepared, *timed))?;
        verdicts.0.extend(verdict);
        let scratch: Vec<_> = outputs.scratch.iter().map(whole).collect();
        let buffers = Buffers {
            x: x.map(DeviceTensor::slice),
            y: outputs.y.as_ref().map(whole),
            indices: indices.map(DeviceTensor::slice),
            indices_out: outputs.indices.as_ref().map(whole),
            status: outputs.report.as_ref().map(whole),
            scratch: &scratch,
        };
        let bound = prepared.check(&buffers)?;
        let (times, verdict) = inner.scoped_now(|| {
            if schedule.dispatches.is_empty() {
                return None;
            }
            prepared.record(encoder, &bound, outputs.clock.as_ref().map(Clock::writes));
            outputs.clock.as_ref().map(|clock| clock.resolve(encoder))
        })?;
        verdicts.0.extend(verdict);
        let Outputs { y, indices: indices_out, report, .. } = outputs;
        let report = report.map(|buffer| self.stage(buffer, 0, STATUS_WORDS * 4));
        let timestamps = times.map(|buffer| self.stage(buffer, 0, TIMESTAMP_BYTES));
        self.steps.push(Step { schedule: Arc::clone(schedule), report, timestamps });
        match (y, indices_out) {
            (Some(y), Some(indices)) => Ok([y, indices]),
            (Some(only), None) | (None, Some(only)) => Ok([only.clone(), only]),
            (None, None) => Err(ExecuteError::BufferMissing { what: "an output" }),
        }
    }

    /// Reserves a place among what is read back.
    fn stage(&mut self, buffer: wgpu::Buffer, offset: u64, bytes: u64) -> u64 {
        let at = self.staged_bytes;
        self.staged.push(Staged { buffer, offset, bytes, at });
        self.staged_bytes = (at + bytes).next_multiple_of(STAGED_ALIGNMENT);
        at
    }
}

fn check(
    tensor: &DeviceTensor,
    what: &'static str,
    shape: &[usize],
    dtype: DType,
    layout: Layout,
) -> Result<(), ExecuteError> {
    check_type(what, dtype.name(), tensor.dtype().name())?;
    check_shape(what, shape, tensor.shape())?;
    if tensor.layout() != layout {
        return Err(ExecuteError::LayoutMismatch { what, expected: layout, actual: tensor.layout() });
    }
    Ok(())
}

fn whole(buffer: &wgpu::Buffer) -> wgpu::BufferSlice<'_> {
    buffer.slice(..)
}

/// What a step allocates.
struct Outputs {
    y: Option<wgpu::Buffer>,
    indices: Option<wgpu::Buffer>,
    report: Option<wgpu::Buffer>,
    /// Declared scratch memory, where the schedule was prepared without it.
    scratch: Vec<wgpu::Buffer>,
    clock: Option<Clock>,
}

impl Outputs {
    fn new(inner: &Inner, prepared: &Prepared, timed: bool) -> Outputs {
        let schedule = &prepared.schedule;
        let output = |what: &str, bytes: u64| inner.output_buffer(what, TENSOR_USAGES, bytes);
        // Where there is nothing to do there is nothing to report or to measure.
        let works = !schedule.dispatches.is_empty();
        let reported = schedule.status_bytes().filter(|_| works && prepared.reports());
        Outputs {
            y: schedule.y_bytes().map(|bytes| output("wgpu-pooling y", bytes)),
            indices: schedule.indices_out_bytes().map(|bytes| output("wgpu-pooling indices", bytes)),
            report: reported.map(|bytes| output("wgpu-pooling report", bytes)),
            scratch: prepared.missing_scratch(),
            clock: (works && timed).then(|| Clock::new(inner)),
        }
    }
}

/// Two timestamps around a step.
struct Clock {
    queries: wgpu::QuerySet,
    ticks: wgpu::Buffer,
}

impl Clock {
    fn new(inner: &Inner) -> Clock {
        let queries = inner.memory.query_set(&wgpu::QuerySetDescriptor {
            label: Some("wgpu-pooling timestamps"),
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        });
        let ticks = inner.memory.buffer(&wgpu::BufferDescriptor {
            label: Some("wgpu-pooling timestamps"),
            size: TIMESTAMP_BYTES,
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Clock { queries, ticks }
    }

    fn writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    fn resolve(&self, encoder: &mut wgpu::CommandEncoder) -> wgpu::Buffer {
        encoder.resolve_query_set(&self.queries, 0..2, &self.ticks, 0);
        self.ticks.clone()
    }
}

/// What is read back, on its way to the host.
#[derive(Debug)]
struct Readback {
    staging: wgpu::Buffer,
    mapped: Mapped,
}

/// A chain that runs. Dropping it leaves the device to finish, and throws the results away.
///
/// ```no_run
/// # async fn f(chain: wgpu_pooling::Chain) -> Result<(), wgpu_pooling::ExecuteError> {
/// let submitted: wgpu_pooling::Submitted = chain.submit()?;
/// let results = submitted.results().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Submitted {
    gpu: Gpu,
    id: Arc<()>,
    steps: Vec<Step>,
    readback: Readback,
    staged_bytes: u64,
    timed: bool,
    verdicts: Verdicts,
}

impl Submitted {
    /// Waits for the device, without a runtime: a thread of the crate's own wakes the future. That thread must not be made to
    /// wait in turn, so a waker may not make a blocking call.
    ///
    /// # Errors
    /// [`ExecuteError::InChain`] with the first step that met bad indices; [`ExecuteError::DeviceLost`] or what else the device
    /// gives.
    ///
    /// ```no_run
    /// # async fn f(submitted: wgpu_pooling::Submitted) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let results = submitted.results().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn results(self) -> Result<Results, ExecuteError> {
        let results = self.finished().await?;
        match results.first_report()? {
            None => Ok(results),
            Some((step, error)) => {
                let kernel = results.steps.get(step).map(|step| step.schedule.kernel()).unwrap_or_default();
                Err(ExecuteError::InChain { step, kernel, error: Box::new(error) })
            }
        }
    }

    /// Waits for the device: the blocking twin of [`Submitted::results`].
    ///
    /// # Errors
    /// As [`Submitted::results`].
    ///
    /// ```no_run
    /// # fn f(submitted: wgpu_pooling::Submitted) -> Result<(), wgpu_pooling::ExecuteError> {
    /// let results = submitted.results_blocking()?;
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(not(target_arch = "wasm32"))]
    pub fn results_blocking(self) -> Result<Results, ExecuteError> {
        pollster::block_on(self.results())
    }

    /// Waits for the device; the reports are not looked at.
    pub(super) async fn finished(self) -> Result<Results, ExecuteError> {
        let Submitted { gpu, id, steps, readback, staged_bytes, timed, verdicts } = self;
        for verdict in verdicts.0 {
            let error = verdict.await;
            gpu.inner.outcome(error)?;
        }
        readback.mapped.await.map_err(|error| gpu.inner.failed(error.to_string()))?;
        let mut results = Results { gpu, id, steps, staging: readback.staging, staged_bytes, timings: None };
        if timed {
            results.timings = Some(results.read_timings()?);
        }
        Ok(results)
    }
}

/// What a chain has brought back.
///
/// ```no_run
/// # fn f(mut chain: wgpu_pooling::Chain, y: wgpu_pooling::DeviceTensor) -> Result<(), wgpu_pooling::ExecuteError> {
/// let wanted = chain.read_back::<f32>(&y)?;
/// let results: wgpu_pooling::Results = chain.run_blocking()?;
/// println!("{:?}, {} bytes read back", results.take(wanted)?.shape(), results.bytes_read_back());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Results {
    gpu: Gpu,
    id: Arc<()>,
    steps: Vec<Step>,
    staging: wgpu::Buffer,
    staged_bytes: u64,
    timings: Option<Vec<StepTime>>,
}

/// How long the device worked on a step.
///
/// ```no_run
/// # fn f(results: wgpu_pooling::Results) {
/// for step in results.timings().unwrap_or_default() {
///     println!("{}: {:?}", step.kernel, step.duration);
/// }
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepTime {
    /// What ran, as [`Schedule::kernel`] names it.
    pub kernel: String,
    /// From the begin to the end of its pass, by the device's clock.
    pub duration: Duration,
}

impl Results {
    /// A tensor that was asked for.
    ///
    /// # Errors
    /// [`ExecuteError::OtherChain`] if another chain was asked for it.
    ///
    /// ```no_run
    /// # fn f(results: wgpu_pooling::Results, wanted: wgpu_pooling::ReadBack<f32>)
    /// # -> Result<(), wgpu_pooling::ExecuteError> {
    /// let y = results.take(wanted)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn take<T: Element>(&self, wanted: ReadBack<T>) -> Result<Tensor<T>, ExecuteError> {
        if !Arc::ptr_eq(&wanted.chain, &self.id) {
            return Err(ExecuteError::OtherChain);
        }
        let data = self.read(wanted.at, count(&wanted.shape))?;
        Ok(Tensor::from_parts(wanted.shape, data))
    }

    /// How long the device worked on each step; `None` unless the chain was [`timed`](Chain::timed) on a device that has
    /// timestamps. Steps without elements take no time and are left out.
    ///
    /// ```no_run
    /// # fn f(results: wgpu_pooling::Results) {
    /// let total: Option<std::time::Duration> =
    ///     results.timings().map(|steps| steps.iter().map(|step| step.duration).sum());
    /// # }
    /// ```
    pub fn timings(&self) -> Option<&[StepTime]> {
        self.timings.as_deref()
    }

    /// The bytes that came from the device: tensors, reports, timestamps.
    ///
    /// ```no_run
    /// # fn f(results: wgpu_pooling::Results) {
    /// println!("{} bytes", results.bytes_read_back());
    /// # }
    /// ```
    pub fn bytes_read_back(&self) -> u64 {
        self.staged_bytes
    }

    /// The first step with bad indices, and what is wrong with them.
    pub(super) fn first_report(&self) -> Result<Option<(usize, ExecuteError)>, ExecuteError> {
        for (number, step) in self.steps.iter().enumerate() {
            let Some(at) = step.report else {
                continue;
            };
            // A report that cannot be read says nothing about the indices.
            let words = self.read::<u32>(at, STATUS_WORDS)?;
            if let Err(error) = read_report(step.schedule.plan(), &words) {
                return Ok(Some((number, error)));
            }
        }
        Ok(None)
    }

    fn read_timings(&self) -> Result<Vec<StepTime>, ExecuteError> {
        let period = f64::from(self.gpu.inner.queue.get_timestamp_period());
        let timed = self.steps.iter().filter_map(|step| Some((step, step.timestamps?)));
        timed
            .map(|(step, at)| {
                let ticks: Vec<u64> = self.read(at, TIMESTAMP_BYTES / 8)?;
                let ticks = ticks.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).sum::<u64>();
                let duration = Duration::from_nanos((ticks as f64 * period) as u64);
                Ok(StepTime { kernel: step.schedule.kernel(), duration })
            })
            .collect()
    }

    fn read<T: bytemuck::Pod>(&self, at: u64, elements: u64) -> Result<Vec<T>, ExecuteError> {
        let bytes = elements * size_of::<T>() as u64;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let range = at..at + bytes.next_multiple_of(4);
        let view = self.staging.get_mapped_range(range);
        let view = view.map_err(|error| self.gpu.inner.failed(error.to_string()))?;
        // The size is the caller's, so what it takes may be more than there is.
        let missing = |_| ExecuteError::OutOfMemory(format!("{bytes} bytes on the host for what was read back"));
        let mut data = bytemuck::allocation::try_zeroed_vec::<T>(elements as usize).map_err(missing)?;
        bytemuck::cast_slice_mut(&mut data).copy_from_slice(&view[..bytes as usize]);
        Ok(data)
    }
}

/// What the words of a report say of a plan's indices.
pub(super) fn read_report(plan: &Plan, words: &[u32]) -> Result<(), ExecuteError> {
    let [count, first, low, high, ..] = *words else {
        return Ok(());
    };
    if count == 0 {
        return Ok(());
    }
    // The first offender is stored complemented, so that zero says that there is none.
    let (position, count) = (u64::from(!first), u64::from(count));
    let value = (u64::from(high) << 32 | u64::from(low)) as i64;
    match plan {
        Plan::Pool(_) => Ok(()),
        Plan::Unpool(plan) => Err(ExecuteError::IndexOutOfRange { position, value, unit: plan.space().unit(), count }),
        Plan::Convert(plan) => Err(plan.offence(position, value, count)),
    }
}
