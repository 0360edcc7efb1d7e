#![no_main]

use libfuzzer_sys::fuzz_target;
use support::harness::compute_on_gpu;

fuzz_target!(init: compute_on_gpu(), |data: &[u8]| ::cases::fuzz::agree(data));
