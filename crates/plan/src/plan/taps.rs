//! How many taps the windows of a pool have.

use super::{PoolAxis, PoolPlan};

impl PoolAxis {
    /// The largest number of taps of a window inside the input.
    pub fn most_taps(&self) -> u64 {
        self.window.most_taps(self.input)
    }
}

impl PoolPlan {
    /// An upper bound on the taps of a window inside the input; it saturates.
    pub fn most_taps(&self) -> u64 {
        self.axes.iter().fold(1, |taps: u64, axis| taps.saturating_mul(axis.most_taps()))
    }
}
