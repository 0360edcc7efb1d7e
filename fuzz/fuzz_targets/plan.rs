#![no_main]

use libfuzzer_sys::fuzz_target;
use ::cases::fuzz::cases;

fuzz_target!(|data: &[u8]| {
    cases::plan(data);
});
