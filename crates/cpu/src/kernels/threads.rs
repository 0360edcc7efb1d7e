//! The threads that share a call's work: those of the rayon pool from which it is made, of rayon's global pool, or the
//! caller's alone.

#[cfg(feature = "rayon")]
use std::sync::{Arc, OnceLock};

/// What backends know of rayon's global pool: whether it has threads. Clones share it. Nothing asks before a call is
/// large enough for several threads, so that a program with small calls can configure the pool later.
#[derive(Debug, Clone, Default)]
pub struct Threads {
    #[cfg(feature = "rayon")]
    global: Arc<OnceLock<bool>>,
}

impl Threads {
    /// The caller's thread alone, unless a call is made from a pool.
    pub fn callers() -> Threads {
        Threads {
            #[cfg(feature = "rayon")]
            global: Arc::new(OnceLock::from(false)),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        #[cfg(feature = "rayon")]
        if rayon::current_thread_index().is_some() || *self.global.get_or_init(global_pool_has_threads) {
            return rayon::current_num_threads();
        }
        1
    }
}

/// Whether rayon's global pool has threads, which are started now unless they were before.
///
/// Containers limit the threads of a process, and each needs memory for its stack. rayon starts its global pool at the
/// first call that asks for it, panics if a thread cannot be started, and does so at every later call, since it never
/// tries again. So the pool is started by the one function that returns the error.
#[cfg(feature = "rayon")]
fn global_pool_has_threads() -> bool {
    // Where there are no threads at all, rayon's first call computes on the caller's, and that function would not.
    if cfg!(target_family = "wasm") {
        return true;
    }
    match rayon::ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // Another one has started it, or has tried in vain, and then asking panics.
        Err(error) if std::error::Error::source(&error).is_none() => {
            std::panic::catch_unwind(rayon::current_num_threads).is_ok()
        }
        Err(_) => false,
    }
}
