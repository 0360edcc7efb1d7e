//! The fuzz target `gpu_cpu` as a test. `fuzz/README.md` has it for cargo-fuzz, and says how a failing input is tried
//! alone.

#[path = "../fuzz/attempts.rs"]
mod attempts;
#[path = "../fuzz/bytes.rs"]
mod bytes;
#[path = "../fuzz/devices.rs"]
mod devices;
#[path = "../fuzz/small.rs"]
mod small;

use crate::support::case;
use crate::support::device::gpu;
use crate::support::harness::tests;
use attempts::fuzz;

tests! {
    gpu =>
        any_bytes_on_the_gpu;
}

fn any_bytes_on_the_gpu() {
    fuzz("gpu_cpu", Vec::new(), |data| devices::gpu_cpu(data, gpu()));
}
