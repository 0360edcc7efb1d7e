//! The one place where buffers and query sets are made, and where a test can make that fail.

use std::sync::{Arc, Mutex, PoisonError};

use super::gate::Owned;

/// A test's hook that is called before each allocation and says whether it has to fail.
pub(in crate::gpu) type Fails = Arc<dyn Fn() -> bool + Send + Sync>;

/// Creates a device's buffers and query sets.
pub(in crate::gpu) struct Allocator {
    device: Owned<wgpu::Device>,
    fails: Option<Fails>,
    /// The error of an allocation that the hook made fail, until the error scopes around it are closed.
    injected: Mutex<Option<wgpu::Error>>,
}

impl Allocator {
    pub fn new(device: Owned<wgpu::Device>, fails: Option<Fails>) -> Self {
        Allocator { device, fails, injected: Mutex::default() }
    }

    /// Creates a buffer. If memory does not suffice, the buffer is invalid and the error scope around the call catches
    /// the error.
    pub fn buffer(&self, descriptor: &wgpu::BufferDescriptor<'_>) -> Owned<wgpu::Buffer> {
        let gate = self.device.gate();
        if !self.is_to_fail() {
            return gate.own(self.device.create_buffer(descriptor));
        }
        // No buffer can be mapped for reading and writing and be storage. The result is as invalid as a buffer that
        // found no memory, and still reports the requested size and usages.
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
    /// own memory; if that does not suffice, nothing is written and the error scope around the call catches the error.
    pub fn write(
        &self,
        queue: &wgpu::Queue,
        buffer: &wgpu::Buffer,
        bytes: u64,
        fill: impl FnOnce(wgpu::WriteOnly<'_, [u8]>),
    ) {
        if self.is_to_fail() {
            self.note_failure();
            return;
        }
        if let Some(mut view) = wgpu::BufferSize::new(bytes).and_then(|size| queue.write_buffer_with(buffer, 0, size)) {
            fill(view.slice(..));
        }
    }

    /// Requests a buffer without usages, which every working device refuses. Nothing is allocated.
    pub fn ask_for_nonsense(&self) {
        let (label, usage) = (Some("wgpu-pooling probe"), wgpu::BufferUsages::empty());
        let descriptor = wgpu::BufferDescriptor { label, size: 4, usage, mapped_at_creation: false };
        drop(self.device.create_buffer(&descriptor));
    }

    /// The error of an allocation that the hook made fail since the last call.
    pub fn injected(&self) -> Option<wgpu::Error> {
        // Without the hook no lock is taken.
        self.fails.as_ref()?;
        self.injected.lock().unwrap_or_else(PoisonError::into_inner).take()
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
        let error = wgpu::Error::OutOfMemory { source: "an allocation was made to fail".into() };
        *self.injected.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
}

impl std::fmt::Debug for Allocator {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Allocator").field("device", &self.device).finish_non_exhaustive()
    }
}
