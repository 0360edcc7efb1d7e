//! What tests ask of a device: outputs filled before they are computed, and allocations that fail.

use super::allocator::Fails;

/// The hooks of a device, none of them set by default.
#[derive(Clone, Default)]
pub(in crate::gpu) struct Hooks {
    pub poison: Option<u32>,
    pub fails: Option<Fails>,
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Hooks").field("poison", &self.poison).finish_non_exhaustive()
    }
}

/// Hooks for the tests of this crate, as further options.
pub trait TestHooks {
    /// Fills every output before it is computed, and scratch memory when it is created, with this word, so that
    /// elements that no kernel writes are visible.
    fn poison(self, word: u32) -> Self;

    /// Calls `fails` before creating a buffer or query set; if it returns true, an invalid one is created, as if memory
    /// had run out. It is also called before every write that wgpu stages; if it returns true, the write is skipped.
    /// For single-threaded tests, which then see [`ExecuteError::OutOfMemory`](crate::ExecuteError::OutOfMemory).
    fn failing_allocations_where(self, fails: impl Fn() -> bool + Send + Sync + 'static) -> Self;
}
