#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/fuzz/bytes.rs"]
mod bytes;
#[path = "../../tests/support/case.rs"]
mod case;
#[path = "../../tests/fuzz/processors.rs"]
mod processors;
#[path = "../../tests/fuzz/small.rs"]
mod small;

fuzz_target!(|data: &[u8]| processors::cpu_reference(data));
