//! A GPU that is not there.

/// A backend that this system cannot have, so that asking for it loads no driver.
pub const ABSENT_BACKEND: &str = if cfg!(windows) { "metal" } else { "dx12" };
