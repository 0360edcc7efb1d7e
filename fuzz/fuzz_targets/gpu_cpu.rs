#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use wgpu_pooling::test_hooks::TestHooks;
use wgpu_pooling::{Gpu, GpuOptions};

#[path = "../../tests/fuzz/bytes.rs"]
mod bytes;
#[path = "../../tests/support/case.rs"]
mod case;
#[path = "../../tests/fuzz/devices.rs"]
mod devices;
#[path = "../../tests/fuzz/small.rs"]
mod small;

static SHARED: OnceLock<Gpu> = OnceLock::new();

fuzz_target!(|data: &[u8]| {
    // An element that no kernel writes shows.
    let open = || Gpu::open_blocking(&GpuOptions::new().poison(0xA5C3_96E7)).expect("a GPU, or software Vulkan");
    devices::gpu_cpu(data, SHARED.get_or_init(open));
});
