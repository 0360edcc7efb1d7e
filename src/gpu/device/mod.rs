//! The lowest floor: a wgpu device with its queue, limits and memory; error scopes, loss of the device, and polling.

pub(in crate::gpu) mod adapter;
pub(in crate::gpu) mod allocator;
pub(in crate::gpu) mod buffer_pool;
pub(in crate::gpu) mod gate;
pub(in crate::gpu) mod memory;
pub(in crate::gpu) mod polling;
pub(in crate::gpu) mod signal;
pub(in crate::gpu) mod test_hooks;

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use adapter::GpuOptions;
use allocator::Allocator;
use buffer_pool::BufferPool;
use gate::{Gate, Owned};
use memory::Memory;
use polling::Submission;
#[cfg(not(target_arch = "wasm32"))]
use polling::{Poller, poll};
use signal::Signal;

use wgpu_pooling_plan::ExecuteError;

use crate::schedule::Limits;

/// A wgpu device that can be used from any thread and whose errors become [`ExecuteError`]s.
#[derive(Debug)]
pub(in crate::gpu) struct OpenDevice {
    pub wgpu: Owned<wgpu::Device>,
    pub queue: Owned<wgpu::Queue>,
    pub limits: Limits,
    /// The alignment of storage bindings, in bytes.
    pub alignment: u64,
    pub memory: Memory,
    loss: Arc<Signal<String>>,
    #[cfg(not(target_arch = "wasm32"))]
    poller: Poller,
}

impl OpenDevice {
    pub fn new(device: wgpu::Device, queue: wgpu::Queue, options: &GpuOptions) -> Self {
        let limits = device.limits();
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment);
        let software = device.adapter_info().device_type == wgpu::DeviceType::Cpu;
        let limits = Limits { software, ..Limits::from(&limits) };
        let gate = Gate::of(&device);
        let loss = Arc::new(Signal::new(gate.clone()));
        let (wgpu, queue) = (gate.own(device), gate.own(queue));
        let memory = Memory {
            allocator: Allocator::new(wgpu.clone(), options.hooks.fails.clone()),
            pool: BufferPool::default(),
            queue: queue.clone(),
            poison: options.hooks.poison,
        };
        OpenDevice {
            #[cfg(not(target_arch = "wasm32"))]
            poller: Poller::new(wgpu.clone()),
            wgpu,
            queue,
            limits,
            alignment,
            memory,
            loss,
        }
    }

    /// Why the device is lost, as wgpu's callbacks report. The first reason stays, since later ones follow from it.
    pub fn loss(&self) -> &Arc<Signal<String>> {
        &self.loss
    }

    /// Submits the copies that wait for the next submit, if they have more than `bytes` bytes. Until then wgpu keeps
    /// their staging memory, and the memory of their target buffers even if these are dropped. The memory is free when
    /// the device is done, or on return if `here`. In a browser wgpu keeps nothing.
    pub fn submit_copies_beyond(&self, bytes: u64, here: bool) {
        let waiting = self.memory.allocator.staged_bytes();
        if cfg!(target_arch = "wasm32") || waiting <= bytes || self.check_alive().is_err() {
            return;
        }
        let (index, _) = self.scoped_later(|| self.submit(None));
        // Without a thread that polls, the next poll frees the memory.
        let _ = self.follow(Submission { index, answers: Vec::new() }, here);
    }

    /// Submits work, and the copies that wait for a submit.
    pub fn submit(&self, work: Option<wgpu::CommandBuffer>) -> wgpu::SubmissionIndex {
        self.memory.allocator.submit(&self.queue, work)
    }

    /// Makes sure that the callbacks of a submission are called and that its waiters get an answer: in this thread now,
    /// if `here`, otherwise by the crate's polling thread.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn follow(&self, submission: Submission, here: bool) -> Result<(), ExecuteError> {
        if !here {
            return self.poller.watch(submission);
        }
        submission.wait(&self.wgpu);
        Ok(())
    }

    /// A browser polls by itself.
    #[cfg(target_arch = "wasm32")]
    pub fn follow(&self, submission: Submission, _here: bool) -> Result<(), ExecuteError> {
        let Submission { index, answers } = submission;
        drop((index, answers));
        Ok(())
    }

    /// The error of a failed call. If the device is lost, it is the device's loss.
    pub fn failed(&self, text: String) -> ExecuteError {
        // wgpu calls the lost callback in a poll only. Before that poll, objects made on a lost device are invalid, and
        // their use fails validation.
        self.probe().err().unwrap_or(ExecuteError::Device(text))
    }

    /// The error of a call for which memory did not suffice. The copies that the call may have left for the next submit
    /// are submitted, so that their memory comes back.
    pub fn out_of_memory(&self, text: String) -> ExecuteError {
        self.submit_copies_beyond(0, false);
        let lost = self.probe().is_err();
        ExecuteError::OutOfMemory(if lost { format!("{text}; the device is lost over it") } else { text })
    }

    /// An error if the device is known to be lost.
    pub fn check_alive(&self) -> Result<(), ExecuteError> {
        self.loss.get().map_or(Ok(()), |reason| Err(ExecuteError::DeviceLost(reason.clone())))
    }

    /// An error if the device is lost, even if no callback has reported it yet. A lost device raises no error for an
    /// invalid descriptor; so such a call without an error shows the loss.
    pub fn probe(&self) -> Result<(), ExecuteError> {
        self.check_alive()?;
        let ((), mut pending) = self.scoped_later(|| self.memory.allocator.create_invalid_object());
        let error = pending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if !matches!(error, Poll::Ready(None)) {
            return Ok(());
        }
        // The device's lost callback receives the reason, and a poll calls the callback.
        #[cfg(not(target_arch = "wasm32"))]
        poll(&self.wgpu, wgpu::PollType::Poll);
        self.loss.tell("the device answers no more; it was destroyed, or its driver gave it up".to_owned());
        self.check_alive()
    }

    /// Does work whose wgpu errors become an [`ExecuteError`] instead of reaching the default handler, which panics.
    ///
    /// Error scopes belong to a thread, so they are opened and closed here, around work that does not wait. An error on
    /// a lost device is reported as [`ExecuteError::DeviceLost`].
    pub async fn scoped<T>(&self, work: impl FnOnce() -> T) -> Result<T, ExecuteError> {
        let (result, pending) = self.scoped_later(work);
        self.check_error(pending.await)?;
        Ok(result)
    }

    /// [`OpenDevice::scoped`] without waiting: wgpu reports caught errors at once; only on the web they stay pending.
    pub fn scoped_now<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Option<PendingError>), ExecuteError> {
        let (result, pending) = self.scoped_later(work);
        Ok((result, self.poll_error(pending)?))
    }

    /// [`OpenDevice::scoped`], with the errors that the scopes catch returned as a future.
    pub fn scoped_later<T>(&self, work: impl FnOnce() -> T) -> (T, PendingError) {
        self.wgpu.gate().exclusive(|| {
            let scopes = self.open_scopes();
            let result = work();
            let pending: PendingError = Box::pin(first_error(self.memory.allocator.injected(), scopes));
            (result, pending)
        })
    }

    /// Returns the error if it is known already, otherwise the pending future.
    pub fn poll_error(&self, mut pending: PendingError) -> Result<Option<PendingError>, ExecuteError> {
        match pending.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(error) => self.check_error(error).map(|()| None),
            Poll::Pending => Ok(Some(pending)),
        }
    }

    /// Turns an error that the scopes caught into the result of the work inside them.
    pub fn check_error(&self, error: Option<wgpu::Error>) -> Result<(), ExecuteError> {
        match error {
            None => Ok(()),
            Some(error @ wgpu::Error::OutOfMemory { .. }) => Err(self.out_of_memory(error.to_string())),
            Some(error) => Err(self.failed(error.to_string())),
        }
    }

    fn open_scopes(&self) -> [wgpu::ErrorScopeGuard; 3] {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        [OutOfMemory, Internal, Validation].map(|filter| self.wgpu.push_error_scope(filter))
    }
}

/// Closes the scopes, the last one first, and returns the error that caused the others: an object that found no memory
/// is invalid, so its use then fails validation.
fn first_error(
    injected: Option<wgpu::Error>,
    scopes: [wgpu::ErrorScopeGuard; 3],
) -> impl Future<Output = Option<wgpu::Error>> {
    let [memory, internal, validation] = scopes;
    let [validation, internal, memory] = [validation.pop(), internal.pop(), memory.pop()];
    async move {
        let mut first = injected;
        for error in [memory, internal, validation] {
            let error = error.await;
            first = first.or(error);
        }
        first
    }
}

/// A future of the error that work raised.
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) type PendingError = Pin<Box<dyn Future<Output = Option<wgpu::Error>> + Send>>;
#[cfg(target_arch = "wasm32")]
pub(in crate::gpu) type PendingError = Pin<Box<dyn Future<Output = Option<wgpu::Error>>>>;

/// Errors that wgpu has not reported yet.
pub(in crate::gpu) struct PendingErrors(pub Vec<PendingError>);

impl std::fmt::Debug for PendingErrors {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} pending errors", self.0.len())
    }
}
