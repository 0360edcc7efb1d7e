//! What the GPU tests share: one device for the whole binary, and the line that says what to do where there is none.

mod skip;

use std::sync::OnceLock;

pub use skip::skip;
use wgpu_pooling::{Gpu, GpuOptions};

/// Fresh outputs and scratch memory hold this, so that an element which no kernel writes shows.
pub const POISON: u32 = 0xA5C3_96E7;

/// The device that all tests of a binary share.
///
/// # Panics
/// Without an adapter: a machine that cannot run the tests is not green.
pub fn gpu() -> &'static Gpu {
    static SHARED: OnceLock<Gpu> = OnceLock::new();
    SHARED.get_or_init(|| {
        Gpu::open_blocking(&GpuOptions::new().poison(POISON)).unwrap_or_else(|error| {
            panic!(
                "{error}\nInstall a Vulkan driver (Debian, Ubuntu: apt-get install mesa-vulkan-drivers), or set \
                 WGPU_POOLING_SKIP_GPU=1 to leave the GPU tests out."
            )
        })
    })
}
