//! What a fork leaves behind: a child has the memory of its parent, but none of its threads, and no use of its devices.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use wgpu_pooling::Cpu;
use wgpu_pooling_cpu::Threads;

use crate::error::device_error;

/// Something of a device, which belongs to the process that opened it. Used in a forked child it would wait for threads
/// that only the parent has; so would dropping it, and the child leaks it instead.
pub(crate) struct Opened<T> {
    value: Option<T>,
    process: u32,
}

impl<T> Opened<T> {
    pub fn new(value: T) -> Opened<T> {
        Opened { value: Some(value), process: std::process::id() }
    }

    /// The value, in the process that opened it.
    pub fn get(&self, py: Python<'_>) -> PyResult<&T> {
        let here = std::process::id();
        match &self.value {
            Some(value) if here == self.process => Ok(value),
            _ => Err(device_error(
                py,
                format!(
                    "this Gpu was opened by the process {} before a fork, and this is the process {here}: open a Gpu \
                     in the worker",
                    self.process
                ),
            )),
        }
    }

    /// The value wherever it is asked for, to read what is plain memory and no device's.
    pub fn anywhere(&self) -> Option<&T> {
        self.value.as_ref()
    }
}

impl<T> Drop for Opened<T> {
    fn drop(&mut self) {
        if std::process::id() != self.process {
            std::mem::forget(self.value.take());
        }
    }
}

/// The process that imported the module. rayon's global threads are its own.
static IMPORTED_BY: OnceLock<u32> = OnceLock::new();
/// What is known of rayon's global threads, so that no call asks again.
static GLOBAL_THREADS: OnceLock<Threads> = OnceLock::new();
/// The threads of a forked child, with its process number. Locked only by threads that hold the GIL, as a forking
/// thread does, so no child finds it locked.
static CHILD_THREADS: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Notes the process that imports the module.
pub(crate) fn imported() {
    IMPORTED_BY.get_or_init(std::process::id);
}

/// A backend on the CPU, whose threads are rayon's global ones, and in a forked child those of a pool of its own. Where
/// there can be none, the caller's thread computes.
pub(crate) fn cpu(_: Python<'_>) -> (Cpu, Option<Arc<ThreadPool>>) {
    let here = std::process::id();
    if IMPORTED_BY.get() == Some(&here) {
        return (Cpu::new().with_threads(GLOBAL_THREADS.get_or_init(Threads::default)), None);
    }
    // The global threads are the parent's, and a call would wait for them.
    let cpu = Cpu::new().with_threads(&Threads::callers());
    let mut pool = CHILD_THREADS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((process, threads)) = &*pool
        && *process == here
    {
        return (cpu, Some(Arc::clone(threads)));
    }
    let Ok(threads) = ThreadPoolBuilder::new().build().map(Arc::new) else { return (cpu, None) };
    // The pool of a parent that is a child itself cannot be dropped either: its threads are not here to end.
    std::mem::forget(pool.replace((here, Arc::clone(&threads))));
    (cpu, Some(threads))
}
