//! What a schedule is made for: a device's limits, and the numbers that follow from how large tensors are.

use std::ops::Deref;

use super::bounds::MAX_TAPS;
use crate::schedule::Limits;

/// Numbers that follow from the size of a tensor or of a device, given instead: so that tests run on small tensors what
/// large ones run as. No number changes a result. One that a kernel cannot have is replaced by the nearest that it can,
/// or the plan is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Sizes {
    /// Lines of outputs of a thread tile.
    pub tile_lines: Option<u32>,
    /// Blocks of lines of a strip.
    pub strip_blocks: Option<u64>,
    /// The most windows of an invocation where windows slide.
    pub run: Option<u64>,
    /// The most chunks of a window that slides in one pass.
    pub chunks: Option<u64>,
    /// Planes that slide together.
    pub planes: Option<u64>,
    /// Bytes of a part of a plane that is reduced in parts.
    pub part_bytes: Option<u64>,
    /// Taps of a part of a window that is cut along an axis.
    pub part_taps: Option<u64>,
    /// Invocations among which the rows of a window, or a plane, are divided.
    pub members: Option<u32>,
    /// Quads of cells of an unpool side by side.
    pub quads: Option<u64>,
    /// Lines of cells of an unpool.
    pub cell_lines: Option<u64>,
    /// Invocations of the last step of an unpool, which mostly has nothing to do.
    pub idle: Option<u64>,
    /// The most taps of a dispatch.
    pub taps: Option<u64>,
}

/// Limits, with sizes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    limits: Limits,
    pub sizes: Sizes,
}

impl Target {
    pub fn new(limits: &Limits, sizes: Sizes) -> Target {
        Target { limits: *limits, sizes }
    }

    /// The most taps of a dispatch.
    pub fn most_taps(&self) -> u64 {
        self.sizes.taps.unwrap_or(MAX_TAPS).max(1)
    }
}

impl From<&Limits> for Target {
    fn from(limits: &Limits) -> Target {
        Target::new(limits, Sizes::default())
    }
}

impl Deref for Target {
    type Target = Limits;

    fn deref(&self) -> &Limits {
        &self.limits
    }
}
