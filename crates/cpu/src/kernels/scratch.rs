//! Memory that kernels reuse from one part of their work to the next.

use std::sync::{Mutex, PoisonError};

use bytemuck::Pod;
use wgpu_pooling_plan::ExecuteError;

/// The memory of one thread, aligned for every element type.
#[derive(Debug, Default)]
pub(crate) struct ThreadMemory {
    words: Vec<u64>,
}

impl ThreadMemory {
    /// Memory for `count` elements. Its contents are arbitrary.
    pub fn elements<L: Pod>(&mut self, count: usize) -> Result<&mut [L], ExecuteError> {
        let bytes = count.checked_mul(size_of::<L>());
        let words = bytes.map(|bytes| bytes.div_ceil(size_of::<u64>()));
        let out_of_memory = || ExecuteError::OutOfMemory(format!("{count} elements of scratch memory"));
        let words = words.ok_or_else(out_of_memory)?;
        if let Some(more) = words.checked_sub(self.words.len()) {
            self.words.try_reserve_exact(more).map_err(|_| out_of_memory())?;
            self.words.resize(words, 0);
        }
        Ok(&mut bytemuck::cast_slice_mut(&mut self.words[..words])[..count])
    }
}

/// The bytes of a cache line, and the most words before the next line begins.
const LINE_BYTES: usize = 64;
const MOST_BEFORE: usize = LINE_BYTES / size_of::<u64>() - 1;

/// Splits memory for `count` lanes off the words.
pub(crate) fn allocate<'a, L: Pod>(words: &mut &'a mut [u64], count: usize) -> &'a mut [L] {
    let (own, rest) = std::mem::take(words).split_at_mut(words_of::<L>(count));
    *words = rest;
    &mut bytemuck::cast_slice_mut(own)[..count]
}

/// Splits memory for `count` lanes off the words, aligned to cache lines. Vectors as long as a cache line are stored
/// faster there.
pub(crate) fn allocate_aligned<'a, L: Pod>(words: &mut &'a mut [u64], count: usize) -> &'a mut [L] {
    let before = words.as_ptr().align_offset(LINE_BYTES).min(MOST_BEFORE);
    allocate::<u64>(words, before);
    allocate(words, count)
}

/// The words for `count` lanes that are aligned to cache lines.
pub(crate) fn aligned_words_of<L>(count: usize) -> usize {
    words_of::<L>(count) + MOST_BEFORE
}

/// The words for `count` lanes.
pub(crate) fn words_of<L>(count: usize) -> usize {
    (count * size_of::<L>()).div_ceil(size_of::<u64>())
}

/// The scratch memory of finished work, reused by later work.
#[derive(Debug)]
pub(crate) struct ScratchPool {
    idle: Mutex<Vec<ThreadMemory>>,
    /// The most words of a thread's memory that is kept.
    most_words: usize,
}

impl Default for ScratchPool {
    fn default() -> Self {
        ScratchPool { idle: Mutex::default(), most_words: usize::MAX }
    }
}

impl ScratchPool {
    /// A pool that frees the memory of a thread that has more than this many bytes.
    pub fn with_most(bytes: usize) -> ScratchPool {
        ScratchPool { most_words: bytes / size_of::<u64>(), ..ScratchPool::default() }
    }

    /// Runs `work` with scratch memory that no other thread uses.
    pub fn with<R>(&self, work: impl FnOnce(&mut ThreadMemory) -> R) -> R {
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = lock().pop().unwrap_or_default();
        let result = work(&mut scratch);
        if scratch.words.len() <= self.most_words {
            lock().push(scratch);
        }
        result
    }

    #[cfg(test)]
    pub fn kept_bytes(&self) -> usize {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter().map(|scratch| scratch.words.len() * size_of::<u64>()).sum()
    }
}
