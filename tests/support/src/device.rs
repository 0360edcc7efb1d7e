//! One device for the whole binary, and the line that says what to do where there is none.

use std::sync::OnceLock;

use wgpu_pooling::TestHooks;
use wgpu_pooling::{Gpu, GpuOptions};

/// Fresh outputs and scratch memory hold this, so that an element which no kernel writes shows.
pub const POISON: u32 = 0xA5C3_96E7;

static SHARED: OnceLock<Result<Gpu, String>> = OnceLock::new();

/// The device that all tests of a binary share: opening one and compiling for it takes longer than most of them.
///
/// # Panics
/// Without an adapter, so that the tests do not pass on a machine that cannot run them.
pub fn gpu() -> &'static Gpu {
    let opened = SHARED.get_or_init(|| {
        Gpu::open_blocking(&GpuOptions::new().poison(POISON)).map_err(|error| {
            format!(
                "{error}\nInstall a Vulkan driver (Debian, Ubuntu: apt-get install mesa-vulkan-drivers), or set \
                 WGPU_POOLING_SKIP_GPU=1 to leave the GPU tests out."
            )
        })
    });
    opened.as_ref().unwrap_or_else(|error| panic!("{error}"))
}

/// How many pipelines the shared device has compiled, and on which adapter.
pub fn summary() -> String {
    match SHARED.get() {
        Some(Ok(gpu)) => format!("{} pipelines compiled for {}", gpu.pipeline_count(), gpu.adapter_info().name),
        _ => "the device that tests share was not opened".to_owned(),
    }
}
