#![no_main]

use libfuzzer_sys::fuzz_target;
use ::cases::fuzz::processors;

fuzz_target!(|data: &[u8]| processors::cpu_reference(data));
