//! The pool of idle buffers, which calls return for later calls.

use std::sync::Mutex;

use super::gate::{Owned, lock};

/// The most bytes of idle buffers. If there are more, the longest unused buffers are freed.
pub(in crate::gpu) const MOST_IDLE_BYTES: u64 = 64 << 20;

/// The most idle buffers: every request searches all of them.
const MOST_IDLE_BUFFERS: usize = 64;

/// Idle buffers, the longest unused first. The pool holds their only handles, and no submitted work uses them.
///
/// wgpu clears a buffer before its first use by a kernel, even if the kernel writes all of it; and creating and freeing
/// buffers is most of the cost of a small call. Pooled buffers have been cleared already.
#[derive(Debug, Default)]
pub(in crate::gpu) struct BufferPool(Mutex<Vec<Owned<wgpu::Buffer>>>);

impl BufferPool {
    /// A buffer of these usages with at least this many bytes, but at most twice as many or 4096.
    pub fn take(&self, usage: wgpu::BufferUsages, bytes: u64) -> Option<Owned<wgpu::Buffer>> {
        let mut idle = lock(&self.0);
        let roomy = bytes.saturating_mul(2).max(4096);
        let fits = |buffer: &Owned<wgpu::Buffer>| buffer.usage() == usage && (bytes..=roomy).contains(&buffer.size());
        let number = idle.iter().rposition(fits)?;
        Some(idle.remove(number))
    }

    /// Returns a buffer to the pool.
    pub fn put(&self, buffer: Owned<wgpu::Buffer>) {
        let mut idle = lock(&self.0);
        idle.push(buffer);
        let mut bytes: u64 = idle.iter().map(|buffer| buffer.size()).sum();
        let mut buffers = idle.len();
        let beyond = idle.iter().take_while(|buffer| {
            let beyond = bytes > MOST_IDLE_BYTES || buffers > MOST_IDLE_BUFFERS;
            (bytes, buffers) = (bytes - buffer.size(), buffers - 1);
            beyond
        });
        let beyond = beyond.count();
        let freed: Vec<_> = idle.drain(..beyond).collect();
        drop(idle);
        drop(freed);
    }

    /// Frees all idle buffers.
    pub fn clear(&self) {
        let freed = std::mem::take(&mut *lock(&self.0));
        drop(freed);
    }

    /// The bytes of all idle buffers.
    pub fn bytes(&self) -> u64 {
        lock(&self.0).iter().map(|buffer| buffer.size()).sum()
    }
}
