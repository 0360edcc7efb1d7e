//! Buffers: with contents, for outputs, and for readbacks.

use super::allocator::Allocator;
use super::buffer_pool::BufferPool;
use super::gate::Owned;

/// The usages of tensor buffers: kernels, and copies in both directions.
pub(in crate::gpu) const TENSOR_USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

/// The usages of scratch memory: a kernel may write the grid of a later dispatch.
pub(in crate::gpu) const SCRATCH_USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::INDIRECT);

/// The device's memory: its allocator, and the pool of idle buffers from earlier calls.
#[derive(Debug)]
pub(in crate::gpu) struct Memory {
    pub allocator: Allocator,
    pub pool: BufferPool,
    pub queue: Owned<wgpu::Queue>,
    /// The word that fills fresh outputs, so that a test notices elements that no kernel writes.
    pub poison: Option<u32>,
}

impl Memory {
    /// A buffer with these contents, rounded up to whole words with zeros.
    pub fn filled_buffer(&self, label: &str, usage: wgpu::BufferUsages, contents: &[u8]) -> Owned<wgpu::Buffer> {
        self.mapped_buffer(label, usage, contents.len() as u64, |view| fill(view, contents))
    }

    /// A buffer that kernels write, poisoned if the options say so.
    pub fn output_buffer(&self, label: &str, usage: wgpu::BufferUsages, bytes: u64) -> Owned<wgpu::Buffer> {
        match self.poison {
            Some(word) => self.mapped_buffer(label, usage, bytes, |view| poison(view, word)),
            None => self.zeroed_buffer(label, usage, bytes),
        }
    }

    /// A buffer with these contents for a tensor of one call, from the pool if it has one that fits.
    pub fn lent_filled_buffer(&self, label: &str, contents: &[u8]) -> Owned<wgpu::Buffer> {
        let bytes = whole_words(contents.len() as u64);
        let buffer = self.pool.take(TENSOR_USAGES, bytes);
        let buffer = buffer.unwrap_or_else(|| self.zeroed_buffer(label, TENSOR_USAGES, bytes));
        self.allocator.write(&self.queue, &buffer, bytes, |view| fill(view, contents));
        buffer
    }

    /// A buffer for an output of one call, from the pool if it has one that fits.
    pub fn lent_output_buffer(&self, label: &str, bytes: u64) -> Owned<wgpu::Buffer> {
        let Some(buffer) = self.pool.take(TENSOR_USAGES, bytes) else {
            return self.output_buffer(label, TENSOR_USAGES, bytes);
        };
        if let Some(word) = self.poison {
            self.allocator.write(&self.queue, &buffer, bytes, |view| poison(view, word));
        }
        buffer
    }

    /// A buffer of this many bytes that the host will map; with `reuse`, from the pool if it has one that fits.
    pub fn staging_buffer(&self, bytes: u64, reuse: bool) -> Owned<wgpu::Buffer> {
        let usages = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let bytes = whole_words(bytes);
        let kept = if reuse { self.pool.take(usages, bytes) } else { None };
        kept.unwrap_or_else(|| self.zeroed_buffer("wgpu-pooling readback", usages, bytes))
    }

    /// A fresh buffer, of zeros: wgpu clears it before its first use.
    pub fn zeroed_buffer(&self, label: &str, usage: wgpu::BufferUsages, bytes: u64) -> Owned<wgpu::Buffer> {
        let (label, size) = (Some(label), whole_words(bytes));
        self.allocator.buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
    }

    /// A buffer of whole words, at least one, that the host fills while it is mapped at creation.
    fn mapped_buffer(
        &self,
        label: &str,
        usage: wgpu::BufferUsages,
        bytes: u64,
        fill: impl FnOnce(wgpu::WriteOnly<'_, [u8]>),
    ) -> Owned<wgpu::Buffer> {
        let (label, size) = (Some(label), whole_words(bytes));
        let buffer = self.allocator.buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: true });
        // If the allocation failed, mapping fails too; the error scope around this call catches the error.
        if let Ok(mut view) = buffer.get_mapped_range_mut(..) {
            fill(view.slice(..));
            drop(view);
            buffer.unmap();
        }
        buffer
    }
}

/// Rounds up to whole words, and at least one, since a binding cannot be empty.
fn whole_words(bytes: u64) -> u64 {
    bytes.next_multiple_of(4).max(4)
}

/// Writes these contents, and zeros after them.
fn fill(view: wgpu::WriteOnly<'_, [u8]>, contents: &[u8]) {
    let (mut here, mut behind) = view.split_at(contents.len());
    here.copy_from_slice(contents);
    behind.fill(0);
}

/// Writes a word everywhere.
fn poison(view: wgpu::WriteOnly<'_, [u8]>, word: u32) {
    let (mut words, _) = view.into_chunks::<4>();
    words.fill(word.to_ne_bytes());
}
