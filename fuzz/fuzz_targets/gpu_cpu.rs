#![no_main]

use libfuzzer_sys::fuzz_target;
use support::device::gpu;
use ::cases::fuzz::devices;

fuzz_target!(|data: &[u8]| devices::gpu_cpu(data, gpu()));
