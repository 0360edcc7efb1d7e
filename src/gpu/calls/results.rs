//! The results of a chain: reports, timings, tensors.

use core::time::Duration;
use std::marker::PhantomData;
use std::sync::Arc;

use wgpu_pooling_plan::internal::count;
use wgpu_pooling_plan::{Element, ExecuteError, Tensor, TensorMut};

use super::gpu::{Gpu, Inner};
use crate::gpu::device::PendingErrors;
use crate::gpu::device::gate::Owned;
use crate::gpu::device::polling::{MapReceiver, Submission};
use crate::report::Report;
use crate::schedule::Schedule;

/// Two timestamps of 64 bits.
pub(super) const TIMESTAMP_BYTES: u64 = 16;

/// A recorded step, with the staging places of its report and its timestamps.
#[derive(Debug)]
pub(super) struct Recorded {
    pub schedule: Arc<Schedule>,
    pub report: Option<StagingPlace>,
    pub timestamps: Option<StagingPlace>,
}

/// A place in the staging memory: the staging buffer and the offset in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct StagingPlace {
    pub staging: usize,
    pub at: u64,
}

/// A tensor that a chain will read back; [`Results::take`] returns it.
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

/// A staging buffer on its way to the host.
#[derive(Debug)]
pub(super) struct Readback {
    pub staging: Owned<wgpu::Buffer>,
    pub mapped: MapReceiver,
}

/// A submitted chain. Dropping it discards the results; the device still finishes the work.
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
    pub(super) steps: Vec<Recorded>,
    pub(super) readbacks: Vec<Readback>,
    pub(super) read_back_bytes: u64,
    pub(super) timed: bool,
    pub(super) pending: PendingErrors,
    pub(super) submission: Unwaited,
    pub(super) lifetime: BufferLifetime,
}

/// A submission that no call waits for yet. If it is dropped, the polling thread waits for it, because the memory of
/// dropped buffers is freed when a poll finds the work done.
#[derive(Debug)]
pub(super) struct Unwaited {
    inner: Arc<Inner>,
    submission: Option<Submission>,
}

impl Unwaited {
    pub fn new(gpu: &Gpu, submission: Submission) -> Unwaited {
        Unwaited { inner: Arc::clone(&gpu.inner), submission: Some(submission) }
    }

    /// The submission, for a call that waits.
    fn take(mut self) -> Option<Submission> {
        self.submission.take()
    }
}

impl Drop for Unwaited {
    fn drop(&mut self) {
        if let Some(submission) = self.submission.take() {
            // Without a thread that polls, the next poll frees the memory.
            let _ = self.inner.device.follow(submission, false);
        }
    }
}

impl Submitted {
    /// Waits for the device. No runtime is needed: the crate's polling thread wakes the future. That thread must not
    /// wait for itself, so a waker must not wait for a future of this crate.
    ///
    /// # Errors
    /// [`ExecuteError::InChain`] with the first step that met bad indices; [`ExecuteError::DeviceLost`] or another
    /// error of the device.
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

    /// Waits for the device without checking the reports.
    pub(super) async fn finished(self) -> Result<Results, ExecuteError> {
        let Submitted { gpu, id, steps, readbacks, read_back_bytes, timed, pending, submission, lifetime } = self;
        for error in pending.0 {
            let error = error.await;
            gpu.inner.device.check_error(error)?;
        }
        if let Some(submission) = submission.take() {
            gpu.follow(submission)?;
        }
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

/// The results of a finished chain.
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
    steps: Vec<Recorded>,
    staging: Vec<Owned<wgpu::Buffer>>,
    read_back_bytes: u64,
    timings: Option<Vec<StepTime>>,
    lifetime: BufferLifetime,
}

/// The chain's buffers that return to the buffer pool when its results are dropped.
#[derive(Debug)]
pub(super) enum BufferLifetime {
    /// None: all buffers are freed.
    Nothing,
    /// The staging buffers.
    Staging,
    /// The staging buffers and these tensors, on which there are no other handles.
    Tensors(Vec<Owned<wgpu::Buffer>>),
}

impl Drop for Results {
    /// Results exist only after the device has finished, so the buffers can be used again.
    fn drop(&mut self) {
        let device = &self.gpu.inner.device;
        if matches!(self.lifetime, BufferLifetime::Nothing) || device.check_alive().is_err() {
            return;
        }
        // Errors of a device that was lost meanwhile no longer matter.
        let _ = device.scoped_later(|| self.staging.iter().for_each(|staging| staging.unmap()));
        let tensors = if let BufferLifetime::Tensors(tensors) = &mut self.lifetime {
            std::mem::take(tensors)
        } else {
            Vec::new()
        };
        self.staging.drain(..).chain(tensors).for_each(|buffer| device.memory.pool.put(buffer));
    }
}

/// The device time of a step.
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
    /// The schedule's name, from [`Schedule::kernel`].
    pub kernel: String,
    /// The time from the beginning to the end of the step's pass, by the device's clock.
    pub duration: Duration,
}

impl Results {
    /// A tensor that was requested by [`Chain::read_back`](crate::Chain::read_back).
    ///
    /// # Errors
    /// [`ExecuteError::OtherChain`] if it was requested from another chain.
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
        Ok(Tensor::new(wanted.shape, data)?)
    }

    /// The device time of each step; `None` unless the chain was [`timed`](crate::Chain::timed) on a device with
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

    /// The bytes that were read back: tensors, reports, timestamps.
    pub fn bytes_read_back(&self) -> u64 {
        self.read_back_bytes
    }

    /// Writes what was read back to these places. Every range is mapped before the first output is written.
    pub(super) fn write(&self, places: &[StagingPlace], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        // All are there before one is written.
        let bytes = |output: &TensorMut<'_>| count(output.shape()).saturating_mul(output.dtype().bytes() as u64);
        let view = |(&place, output): (_, &TensorMut<'_>)| self.view(place, bytes(output));
        let views: Vec<_> = places.iter().zip(outputs.iter()).map(view).collect::<Result<_, _>>()?;
        for (output, view) in outputs.iter_mut().zip(&views) {
            let bytes = bytes(output) as usize;
            output.put(view.as_ref().map_or(&[], |view| &view[..bytes]))?;
        }
        Ok(())
    }

    /// The first step with bad indices, and its error.
    pub(super) fn first_report(&self) -> Result<Option<(usize, ExecuteError)>, ExecuteError> {
        for (number, step) in self.steps.iter().enumerate() {
            let Some(place) = step.report else {
                continue;
            };
            // A report that cannot be read is an error, since the indices may be bad.
            let words = self.read::<u32>(place, Report::WORDS as u64)?;
            let report = Report::from_bytes(bytemuck::cast_slice(&words));
            let lost = || self.gpu.inner.device.failed("a report of another length".to_owned());
            if let Err(error) = report.ok_or_else(lost)?.check(step.schedule.plan()) {
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
        let Some(view) = self.view(place, bytes)? else {
            return Ok(Vec::new());
        };
        // The size is the caller's, so the host may lack the memory.
        let missing = |_| ExecuteError::OutOfMemory(format!("{bytes} bytes on the host for what was read back"));
        let mut data = bytemuck::allocation::try_zeroed_vec::<T>(elements as usize).map_err(missing)?;
        bytemuck::cast_slice_mut(&mut data).copy_from_slice(&view[..bytes as usize]);
        Ok(data)
    }

    /// The mapped bytes at a place, in whole words; `None` for no bytes.
    fn view(&self, place: StagingPlace, bytes: u64) -> Result<Option<wgpu::BufferView>, ExecuteError> {
        if bytes == 0 {
            return Ok(None);
        }
        let range = place.at..place.at + bytes.next_multiple_of(4);
        let view = self.staging[place.staging].get_mapped_range(range);
        view.map(Some).map_err(|error| self.gpu.inner.device.failed(error.to_string()))
    }
}
