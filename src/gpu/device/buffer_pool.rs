//! Buffers that a call is done with, kept for the next one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::gate::Owned;

/// The most bytes that lie idle; what comes back beyond is freed, the longest unused first.
pub(in crate::gpu) const MOST_IDLE_BYTES: u64 = 64 << 20;

/// The most buffers that lie idle: all are looked through.
const MOST_IDLE_BUFFERS: usize = 64;

/// Idle buffers, the longest unused first. Nobody else has a handle on any of them, and the device is done with all.
///
/// wgpu clears a buffer that a kernel is the first to write, also where the kernel writes all of it, and making and freeing
/// buffers is most of what a small call costs. What lies here was cleared once.
#[derive(Debug, Default)]
pub(in crate::gpu) struct BufferPool(Mutex<Vec<Owned<wgpu::Buffer>>>);

impl BufferPool {
    /// A buffer of these usages for so many bytes. Large ones are not wasted on little.
    pub fn take(&self, usage: wgpu::BufferUsages, bytes: u64) -> Option<Owned<wgpu::Buffer>> {
        let mut idle = self.lock();
        let roomy = bytes.saturating_mul(2).max(4096);
        let fits = |buffer: &Owned<wgpu::Buffer>| buffer.usage() == usage && (bytes..=roomy).contains(&buffer.size());
        let number = idle.iter().rposition(fits)?;
        Some(idle.remove(number))
    }

    /// Keeps a buffer for the next one who needs it.
    pub fn put(&self, buffer: Owned<wgpu::Buffer>) {
        let mut idle = self.lock();
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

    /// Frees all of them.
    pub fn clear(&self) {
        let freed = std::mem::take(&mut *self.lock());
        drop(freed);
    }

    /// How many bytes lie here.
    pub fn bytes(&self) -> u64 {
        self.lock().iter().map(|buffer| buffer.size()).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Owned<wgpu::Buffer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
