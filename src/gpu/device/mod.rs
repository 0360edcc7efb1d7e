//! The lowest floor: a wgpu device with its queue, limits and memory, its error scopes, its loss, and polling.

pub(in crate::gpu) mod allocator;
pub(in crate::gpu) mod buffer_pool;
pub(in crate::gpu) mod gate;
pub(in crate::gpu) mod memory;
pub(in crate::gpu) mod oneshot;
pub(in crate::gpu) mod options;
pub(in crate::gpu) mod polling;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

use allocator::Allocator;
use buffer_pool::BufferPool;
use gate::{Gate, Owned};
use memory::Memory;
use options::GpuOptions;
use polling::Submission;
#[cfg(not(target_arch = "wasm32"))]
use polling::{Poller, poll};

use crate::error::ExecuteError;
use crate::schedule::Limits;

/// A wgpu device and what it takes to use it from any thread and to say what went wrong.
#[derive(Debug)]
pub(in crate::gpu) struct Device {
    pub wgpu: Owned<wgpu::Device>,
    pub queue: Owned<wgpu::Queue>,
    pub limits: Limits,
    /// The multiple at which storage bindings begin, in bytes.
    pub alignment: u64,
    pub memory: Memory,
    lost: Arc<OnceLock<String>>,
    #[cfg(not(target_arch = "wasm32"))]
    poller: Poller,
}

impl Device {
    pub fn new(device: wgpu::Device, queue: wgpu::Queue, lost: Arc<OnceLock<String>>, options: &GpuOptions) -> Device {
        let limits = device.limits();
        let alignment = u64::from(limits.min_storage_buffer_offset_alignment);
        let limits = Limits::from(&limits);
        let gate = Gate::of(&device);
        let (wgpu, queue) = (gate.own(device), gate.own(queue));
        let memory = Memory {
            allocator: Allocator::new(wgpu.clone(), options.failing_allocations()),
            pool: BufferPool::default(),
            queue: queue.clone(),
            poison: options.poison_word(),
        };
        Device {
            #[cfg(not(target_arch = "wasm32"))]
            poller: Poller::new(wgpu.clone()),
            wgpu,
            queue,
            limits,
            alignment,
            memory,
            lost,
        }
    }

    /// The flag of its loss, for whoever learns of it. The first reason stays: it explains the others.
    pub fn lost(&self) -> &Arc<OnceLock<String>> {
        &self.lost
    }

    /// Has the callbacks of a submission called, and an end told to those who wait for it: now, in this thread, or by the crate's
    /// own.
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
    pub fn follow(&self, submission: Submission) -> Result<(), ExecuteError> {
        let Submission { index, answers } = submission;
        drop((index, answers));
        Ok(())
    }
}

impl Device {
    /// The error of a call that failed: the device's loss if that is why.
    pub fn failed(&self, text: String) -> ExecuteError {
        // The lost callback is called by a poll, and a lost device's objects are refused as invalid before that.
        self.probe().err().unwrap_or(ExecuteError::Device(text))
    }

    /// An error if the device is known to be lost.
    pub fn check_alive(&self) -> Result<(), ExecuteError> {
        match self.lost.get() {
            Some(reason) => Err(ExecuteError::DeviceLost(reason.clone())),
            None => Ok(()),
        }
    }

    /// An error if the device is lost, also where nobody has said so yet. wgpu keeps silent about calls on a lost device, even
    /// about those that are wrong; so a wrong one that it does not complain of shows the loss.
    pub fn probe(&self) -> Result<(), ExecuteError> {
        self.check_alive()?;
        let ((), mut pending) = self.scoped_later(|| self.memory.allocator.ask_for_nonsense());
        let complaint = pending.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if !matches!(complaint, Poll::Ready(None)) {
            return Ok(());
        }
        // The device's own callback knows the reason, and a poll calls it.
        #[cfg(not(target_arch = "wasm32"))]
        poll(&self.wgpu, wgpu::PollType::Poll);
        let _ = self.lost.set("the device answers no more; it was destroyed, or its driver gave it up".to_owned());
        self.check_alive()
    }

    /// Does work whose wgpu errors become an [`ExecuteError`] instead of reaching the default handler, which panics.
    ///
    /// Error scopes belong to a thread, so they are opened and closed here, around work that does not wait.
    /// What fails because the device is gone is reported as its loss.
    pub async fn scoped<T>(&self, work: impl FnOnce() -> T) -> Result<T, ExecuteError> {
        let (result, pending) = self.scoped_later(work);
        self.check_error(pending.await)?;
        Ok(result)
    }

    /// The same without waiting: outside the web wgpu says at once what it caught; there it stays pending.
    pub fn scoped_now<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Option<PendingError>), ExecuteError> {
        let (result, pending) = self.scoped_later(work);
        Ok((result, self.poll_error(pending)?))
    }

    /// The same; what the error scopes catch is left to be asked for.
    pub fn scoped_later<T>(&self, work: impl FnOnce() -> T) -> (T, PendingError) {
        self.wgpu.gate().exclusive(|| {
            let scopes = self.open_scopes();
            let result = work();
            let pending: PendingError = Box::pin(first_error(self.memory.allocator.injected(), scopes));
            (result, pending)
        })
    }

    /// The error if it is there already, or what is still pending.
    pub fn poll_error(&self, mut pending: PendingError) -> Result<Option<PendingError>, ExecuteError> {
        match pending.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(error) => self.check_error(error).map(|()| None),
            Poll::Pending => Ok(Some(pending)),
        }
    }

    /// What the error scopes caught, as the result of the work inside them.
    pub fn check_error(&self, error: Option<wgpu::Error>) -> Result<(), ExecuteError> {
        match error {
            None => Ok(()),
            Some(error @ wgpu::Error::OutOfMemory { .. }) => Err(ExecuteError::OutOfMemory(error.to_string())),
            Some(error) => Err(self.failed(error.to_string())),
        }
    }

    fn open_scopes(&self) -> [wgpu::ErrorScopeGuard; 3] {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        [OutOfMemory, Internal, Validation].map(|filter| self.wgpu.push_error_scope(filter))
    }
}

/// Closes scopes, the last one first, and gives the error that explains the others: what found no memory is invalid, and
/// using it is refused.
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

/// The error that work raised, once it is known.
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) type PendingError = Pin<Box<dyn Future<Output = Option<wgpu::Error>> + Send>>;
#[cfg(target_arch = "wasm32")]
pub(in crate::gpu) type PendingError = Pin<Box<dyn Future<Output = Option<wgpu::Error>>>>;

/// Errors that wgpu has not told yet.
pub(in crate::gpu) struct PendingErrors(pub Vec<PendingError>);

impl std::fmt::Debug for PendingErrors {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} pending errors", self.0.len())
    }
}
