//! How rows are run.

use std::time::Duration;

use crate::data::Data;
use crate::measure::Method;

/// How rows are run.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub data: Data,
    pub rounds: usize,
    pub pass_seconds: f64,
    pub warm_up: Duration,
    pub verify_taps: u64,
    pub selected_only: bool,
    pub others_limit: u64,
    pub cache_bytes: u64,
    pub least_sets: u64,
    pub memory_bytes: u64,
    /// Whether an f32 copy of as many elements is timed too.
    pub f32_copy: bool,
    /// A kernel that has run for longer than this gets no further rounds.
    pub patience_seconds: f64,
}

/// The most buffer sets. Each set costs a bind group and a few buffers, and more sets are of no use.
const MOST_SETS: u64 = 64;

impl Settings {
    /// How many sets of buffers are used in turn, if a kernel, and the copy beside it, move `bytes` and the f32 copy
    /// moves `f32_bytes`. Each copy has sets of its own, as large as the bytes that it moves.
    pub fn sets(&self, bytes: u64, f32_bytes: u64) -> u64 {
        let affordable = self.memory_bytes / (2 * bytes + f32_bytes).max(1);
        let wanted = self.cache_bytes.div_ceil(bytes.max(1)).max(self.least_sets);
        wanted.min(affordable).clamp(1, MOST_SETS)
    }

    pub fn method(&self, sets: usize) -> Method {
        let Settings { rounds, pass_seconds, warm_up, patience_seconds, .. } = *self;
        Method { rounds, pass_seconds, warm_up, sets, patience_seconds }
    }
}
