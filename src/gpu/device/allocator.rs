//! The one place where buffers and query sets are made, and where a test can make that fail.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::gate::{Owned, lock};

/// A test's hook that is called before each allocation and says whether it has to fail.
pub(in crate::gpu) type Fails = Arc<dyn Fn() -> bool + Send + Sync>;

/// The most bytes of a write that wgpu stages in blocks of memory which it keeps. For so few bytes, checking for room
/// would be a noticeable part of the call.
const FEW_BYTES: u64 = 64 << 10;

const INJECTED: &str = "an allocation was made to fail";

/// Creates a device's buffers and query sets.
pub(in crate::gpu) struct Allocator {
    device: Owned<wgpu::Device>,
    fails: Option<Fails>,
    /// The error of an allocation that the hook made fail, until the error scopes around it are closed.
    injected: Mutex<Option<wgpu::Error>>,
    /// Locked from the check for room until the room is used, and while a buffer is created.
    turn: Mutex<()>,
    /// The bytes that wgpu has staged since this crate's last submit.
    staged: AtomicU64,
}

impl Allocator {
    pub fn new(device: Owned<wgpu::Device>, fails: Option<Fails>) -> Self {
        Allocator { device, fails, injected: Mutex::default(), turn: Mutex::default(), staged: AtomicU64::new(0) }
    }

    /// Creates a buffer. If memory does not suffice, the buffer is invalid and the error scope around the call catches
    /// the error.
    pub fn buffer(&self, descriptor: &wgpu::BufferDescriptor<'_>) -> Owned<wgpu::Buffer> {
        let gate = self.device.gate();
        if !self.is_to_fail() {
            let _turn = lock(&self.turn);
            return gate.own(self.device.create_buffer(descriptor));
        }
        // No buffer can be mapped for reading and writing and be storage. The result is as invalid as a buffer that
        // found no memory. It still reports the requested size, and the requested usages among others.
        let contradiction = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::STORAGE;
        let usage = descriptor.usage | contradiction;
        gate.own(self.refused(|device| device.create_buffer(&wgpu::BufferDescriptor { usage, ..descriptor.clone() })))
    }

    /// Creates a query set. If memory does not suffice, the query set is invalid and the error scope around the call
    /// catches the error.
    pub fn query_set(&self, descriptor: &wgpu::QuerySetDescriptor<'_>) -> Owned<wgpu::QuerySet> {
        let gate = self.device.gate();
        if !self.is_to_fail() {
            return gate.own(self.device.create_query_set(descriptor));
        }
        // A query set of zero queries is invalid.
        let none = wgpu::QuerySetDescriptor { count: 0, ..descriptor.clone() };
        gate.own(self.refused(|device| device.create_query_set(&none)))
    }

    /// Writes `bytes` bytes, whole words, at the beginning of a buffer before the next submit. wgpu stages them in its
    /// own memory until then; if memory does not suffice, nothing is written, and the error says so. `again` says that
    /// as many bytes were staged for this buffer before: a few bytes then find room without a check.
    pub fn write(
        &self,
        queue: &wgpu::Queue,
        buffer: &wgpu::Buffer,
        bytes: u64,
        again: bool,
        fill: impl FnOnce(wgpu::WriteOnly<'_, [u8]>),
    ) -> Result<(), String> {
        if self.is_to_fail() {
            self.note_failure();
            return Err(INJECTED.to_owned());
        }
        let Some(size) = wgpu::BufferSize::new(bytes) else { return Ok(()) };
        let view = {
            let _turn = lock(&self.turn);
            // A browser allocates staging memory by its own rules.
            if cfg!(not(target_arch = "wasm32")) && (!again || bytes > FEW_BYTES) {
                self.check_room(bytes)?;
            }
            queue.write_buffer_with(buffer, 0, size)
        };
        if let Some(mut view) = view {
            fill(view.slice(..));
            drop(view);
            self.staged.fetch_add(bytes, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Submits work. Earlier writes are copied before it, and their staging memory is freed together with that of the
    /// work.
    pub fn submit(&self, queue: &wgpu::Queue, work: Option<wgpu::CommandBuffer>) -> wgpu::SubmissionIndex {
        // Reset before the submit, so that a write of another thread during the submit counts.
        self.staged.store(0, Ordering::Relaxed);
        queue.submit(work)
    }

    /// The bytes that wgpu keeps for writes since the last [`submit`](Allocator::submit).
    pub fn staged_bytes(&self) -> u64 {
        self.staged.load(Ordering::Relaxed)
    }

    /// An error if there is no memory to stage this many bytes. If wgpu finds no memory for staging, it gives up the
    /// device; if it finds none for a buffer, it does not. So a buffer of the same size in the same kind of memory is
    /// created and freed.
    fn check_room(&self, bytes: u64) -> Result<(), String> {
        let usage = wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC;
        let descriptor = wgpu::BufferDescriptor { label: None, size: bytes, usage, mapped_at_creation: false };
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        drop(self.device.create_buffer(&descriptor));
        match pin!(scope.pop()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(None) | Poll::Pending => Ok(()),
            Poll::Ready(Some(error)) => Err(format!("{bytes} bytes to stage a copy to the device: {error}")),
        }
    }

    /// Creates a buffer without usages, which is invalid: every working device raises an error. Nothing is allocated.
    pub fn create_invalid_object(&self) {
        let (label, usage) = (Some("wgpu-pooling probe"), wgpu::BufferUsages::empty());
        let descriptor = wgpu::BufferDescriptor { label, size: 4, usage, mapped_at_creation: false };
        drop(self.device.create_buffer(&descriptor));
    }

    /// The error of an allocation that the hook made fail since the last call.
    pub fn injected(&self) -> Option<wgpu::Error> {
        // Without the hook no lock is taken.
        self.fails.as_ref()?;
        lock(&self.injected).take()
    }

    fn is_to_fail(&self) -> bool {
        self.fails.as_ref().is_some_and(|fails| fails())
    }

    /// Creates an invalid object, and records out-of-memory as the error instead of wgpu's validation error.
    fn refused<T>(&self, make: impl FnOnce(&wgpu::Device) -> T) -> T {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let invalid = make(&self.device);
        drop(scope.pop());
        self.note_failure();
        invalid
    }

    fn note_failure(&self) {
        let error = wgpu::Error::OutOfMemory { source: INJECTED.into() };
        *lock(&self.injected) = Some(error);
    }
}

impl std::fmt::Debug for Allocator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Allocator").field("device", &self.device).finish_non_exhaustive()
    }
}
