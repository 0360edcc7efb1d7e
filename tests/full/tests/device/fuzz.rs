//! The fuzz target `gpu_cpu` as a test. `fuzz/README.md` has it for cargo-fuzz, and says how a failing input is tried
//! alone.

use cases::fuzz::attempts::fuzz;
use support::tests;

tests! {
    gpu =>
        any_bytes_on_the_gpu;
}

fn any_bytes_on_the_gpu() {
    fuzz("gpu_cpu", cases::fuzz::agree);
}
