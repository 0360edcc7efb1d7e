#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/fuzz/bytes.rs"]
mod bytes;
#[path = "../../tests/fuzz/cases.rs"]
mod cases;

fuzz_target!(|data: &[u8]| {
    cases::plan(data);
});
