//! Buffers: with contents, for outputs, and for readbacks.

use super::allocator::Allocator;
use super::buffer_pool::BufferPool;
use super::gate::Owned;

/// The usages of tensor buffers: kernels, and copies in both directions.
pub(in crate::gpu) const TENSOR_USAGES: wgpu::BufferUsages =
    wgpu::BufferUsages::STORAGE.union(wgpu::BufferUsages::COPY_SRC).union(wgpu::BufferUsages::COPY_DST);

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
    pub fn filled_buffer(
        &self,
        label: &str,
        usage: wgpu::BufferUsages,
        contents: &[u8],
    ) -> Result<Owned<wgpu::Buffer>, String> {
        let buffer = self.zeroed_buffer(label, usage | wgpu::BufferUsages::COPY_DST, contents.len() as u64);
        self.filled(buffer, contents, false)
    }

    /// A buffer with these contents for a tensor of one call, from the pool if it has one that fits.
    pub fn pooled_filled_buffer(&self, label: &str, contents: &[u8]) -> Result<Owned<wgpu::Buffer>, String> {
        match self.pool.take(TENSOR_USAGES, whole_words(contents.len() as u64)) {
            Some(buffer) => self.filled(buffer, contents, true),
            None => self.filled_buffer(label, TENSOR_USAGES, contents),
        }
    }

    /// A buffer that kernels write, poisoned if the options say so.
    pub fn output_buffer(&self, label: &str, usage: wgpu::BufferUsages, bytes: u64) -> Owned<wgpu::Buffer> {
        match self.poison {
            Some(_) => self.poisoned(self.zeroed_buffer(label, usage | wgpu::BufferUsages::COPY_DST, bytes), bytes),
            None => self.zeroed_buffer(label, usage, bytes),
        }
    }

    /// A buffer for an output of one call, from the pool if it has one that fits.
    pub fn pooled_output_buffer(&self, label: &str, bytes: u64) -> Owned<wgpu::Buffer> {
        match self.pool.take(TENSOR_USAGES, bytes) {
            Some(buffer) => self.poisoned(buffer, bytes),
            None => self.output_buffer(label, TENSOR_USAGES, bytes),
        }
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

    /// A buffer, `pooled` or fresh, after these contents are written to it.
    fn filled(
        &self,
        buffer: Owned<wgpu::Buffer>,
        contents: &[u8],
        pooled: bool,
    ) -> Result<Owned<wgpu::Buffer>, String> {
        let bytes = whole_words(contents.len() as u64);
        self.allocator.write(&self.queue, &buffer, bytes, pooled, |view| fill(view, contents))?;
        Ok(buffer)
    }

    /// An output with its poison, if the options say so.
    fn poisoned(&self, buffer: Owned<wgpu::Buffer>, bytes: u64) -> Owned<wgpu::Buffer> {
        if let Some(word) = self.poison {
            // A test without the memory for poison goes on without it.
            let _ = self.allocator.write(&self.queue, &buffer, whole_words(bytes), false, |view| poison(view, word));
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
