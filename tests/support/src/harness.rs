//! What tests that may need a device share, beside the device.

use std::thread::ScopedJoinHandle;

/// Whether the tests that need a GPU are left out.
pub fn skips_gpu() -> bool {
    std::env::var_os("WGPU_POOLING_SKIP_GPU").is_some_and(|value| value == "1")
}

/// Waits until threads that a scope has started are gone.
///
/// The end of a scope waits for its threads' closures alone. What a GL driver keeps for a thread is freed after its
/// closure, and once more when the process ends meanwhile (libEGL of libglvnd), which aborts the process. So whatever
/// thread computes on a device is joined; the standard library's test runner joins those of its tests.
///
/// # Panics
/// With a thread's own panic.
pub fn join_all<'a, T>(threads: impl IntoIterator<Item = ScopedJoinHandle<'a, T>>) -> Vec<T> {
    let outcomes: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    outcomes.into_iter().map(|outcome| outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
}
