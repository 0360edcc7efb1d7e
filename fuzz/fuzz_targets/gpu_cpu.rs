#![no_main]

use libfuzzer_sys::fuzz_target;
use support::device::gpu;
use support::fuzz::devices;

fuzz_target!(|data: &[u8]| devices::gpu_cpu(data, gpu()));
