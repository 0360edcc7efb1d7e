#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| ::cases::fuzz::agree(data, |net| net.only("CPU")));
