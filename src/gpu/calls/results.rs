//! What a chain brings back: reports, timings, tensors.

use core::time::Duration;
use std::marker::PhantomData;
use std::sync::Arc;

use super::gpu::Gpu;
use crate::element::Element;
use crate::error::ExecuteError;
use crate::gpu::device::PendingErrors;
use crate::gpu::device::gate::Owned;
use crate::gpu::device::oneshot::MapReceiver;
use crate::gpu::device::polling::Submission;
use crate::plan::Plan;
use crate::schedule::{STATUS_WORDS, Schedule};
use crate::tensor::{Tensor, count};

/// Two timestamps of 64 bits.
pub(super) const TIMESTAMP_BYTES: u64 = 16;

/// A recorded step, and where its report and its timestamps lie among what is read back.
#[derive(Debug)]
pub(super) struct Step {
    pub schedule: Arc<Schedule>,
    pub report: Option<StagingPlace>,
    pub timestamps: Option<StagingPlace>,
}

/// Where something lies among what is read back: which staging buffer, and where in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StagingPlace {
    pub staging: usize,
    pub at: u64,
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
    pub(super) chain: Arc<()>,
    pub(super) place: StagingPlace,
    pub(super) shape: Vec<usize>,
    pub(super) element: PhantomData<fn() -> T>,
}

/// What is read back, on its way to the host.
#[derive(Debug)]
pub(super) struct Readback {
    pub staging: Owned<wgpu::Buffer>,
    pub mapped: MapReceiver,
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
    pub(super) gpu: Gpu,
    pub(super) id: Arc<()>,
    pub(super) steps: Vec<Step>,
    pub(super) readbacks: Vec<Readback>,
    pub(super) read_back_bytes: u64,
    pub(super) timed: bool,
    pub(super) pending: PendingErrors,
    pub(super) submission: Submission,
    pub(super) lifetime: BufferLifetime,
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
    pub fn results_blocking(mut self) -> Result<Results, ExecuteError> {
        self.gpu.polls = true;
        pollster::block_on(self.results())
    }

    /// Waits for the device; the reports are not looked at.
    pub(super) async fn finished(self) -> Result<Results, ExecuteError> {
        let Submitted { gpu, id, steps, readbacks, read_back_bytes, timed, pending, submission, lifetime } = self;
        for error in pending.0 {
            let error = error.await;
            gpu.inner.device.check_error(error)?;
        }
        gpu.follow(submission)?;
        let mut staging = Vec::new();
        for Readback { staging: buffer, mapped } in readbacks {
            mapped.await.map_err(|error| gpu.inner.device.failed(error.to_string()))?;
            staging.push(buffer);
        }
        let mut results = Results { gpu, id, steps, staging, read_back_bytes, timings: None, lifetime };
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
    staging: Vec<Owned<wgpu::Buffer>>,
    read_back_bytes: u64,
    timings: Option<Vec<StepTime>>,
    lifetime: BufferLifetime,
}

/// What becomes of a chain's buffers once its results are dropped.
#[derive(Debug)]
pub(super) enum BufferLifetime {
    /// They are freed.
    Nothing,
    /// The staging buffers are kept for later calls.
    Staging,
    /// These tensors, which nobody else has a handle on, are kept too.
    Tensors(Vec<Owned<wgpu::Buffer>>),
}

impl Drop for Results {
    /// There are results only of what the device has done, so the buffers are free for others.
    fn drop(&mut self) {
        let device = &self.gpu.inner.device;
        if matches!(self.lifetime, BufferLifetime::Nothing) || device.check_alive().is_err() {
            return;
        }
        // A device that was lost meanwhile may have something to say about it, which concerns nobody any more.
        let _ = device.scoped_later(|| self.staging.iter().for_each(|staging| staging.unmap()));
        let tensors = if let BufferLifetime::Tensors(tensors) = &mut self.lifetime {
            std::mem::take(tensors)
        } else {
            Vec::new()
        };
        self.staging.drain(..).chain(tensors).for_each(|buffer| device.memory.pool.put(buffer));
    }
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
    /// The step's number, from 0, in the order in which the steps were encoded.
    pub step: usize,
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
        let data = self.read(wanted.place, count(&wanted.shape))?;
        Ok(Tensor::from_parts(wanted.shape, data))
    }

    /// How long the device worked on each step; `None` unless the chain was [`timed`](crate::Chain::timed) on a device that has
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
    pub fn bytes_read_back(&self) -> u64 {
        self.read_back_bytes
    }

    /// The first step with bad indices, and what is wrong with them.
    pub(super) fn first_report(&self) -> Result<Option<(usize, ExecuteError)>, ExecuteError> {
        for (number, step) in self.steps.iter().enumerate() {
            let Some(place) = step.report else {
                continue;
            };
            // A report that cannot be read says nothing about the indices.
            let words = self.read::<u32>(place, STATUS_WORDS)?;
            let report = words.first_chunk().map_or(Ok(()), |words| read_report(step.schedule.plan(), words));
            if let Err(error) = report {
                return Ok(Some((number, error)));
            }
        }
        Ok(None)
    }

    fn read_timings(&self) -> Result<Vec<StepTime>, ExecuteError> {
        let period = f64::from(self.gpu.inner.device.queue.get_timestamp_period());
        let timed = self.steps.iter().enumerate().filter_map(|(number, step)| Some((number, step, step.timestamps?)));
        timed
            .map(|(number, step, place)| {
                let ticks: Vec<u64> = self.read(place, TIMESTAMP_BYTES / 8)?;
                let ticks = ticks.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).sum::<u64>();
                let duration = Duration::from_nanos((ticks as f64 * period) as u64);
                Ok(StepTime { step: number, kernel: step.schedule.kernel(), duration })
            })
            .collect()
    }

    fn read<T: bytemuck::Pod>(&self, place: StagingPlace, elements: u64) -> Result<Vec<T>, ExecuteError> {
        let bytes = elements * size_of::<T>() as u64;
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let range = place.at..place.at + bytes.next_multiple_of(4);
        let view = self.staging[place.staging].get_mapped_range(range);
        let view = view.map_err(|error| self.gpu.inner.device.failed(error.to_string()))?;
        // The size is the caller's, so what it takes may be more than there is.
        let missing = |_| ExecuteError::OutOfMemory(format!("{bytes} bytes on the host for what was read back"));
        let mut data = bytemuck::allocation::try_zeroed_vec::<T>(elements as usize).map_err(missing)?;
        bytemuck::cast_slice_mut(&mut data).copy_from_slice(&view[..bytes as usize]);
        Ok(data)
    }
}

/// What the words of a report say of a plan's indices.
pub(super) fn read_report(plan: &Plan, words: &[u32; STATUS_WORDS as usize]) -> Result<(), ExecuteError> {
    let [count, first, low, high, ..] = *words;
    if count == 0 && !matches!(plan, Plan::Pool(_)) {
        return Ok(());
    }
    // The first offender is stored complemented, so that zero says that there is none.
    let (position, count) = (u64::from(!first), u64::from(count));
    let value = (u64::from(high) << 32 | u64::from(low)) as i64;
    match plan {
        // A pool cannot be wrong about its data and reports nothing.
        Plan::Pool(_) => Err(ExecuteError::OperatorMismatch { planned: "pool", called: "report" }),
        Plan::Unpool(plan) => Err(ExecuteError::IndexOutOfRange { position, value, unit: plan.space().unit(), count }),
        Plan::Convert(plan) => Err(plan.offence(position, value, count)),
    }
}
