//! The cases that are drawn at random, each in every family and build of kernels, with tiles, strips and parts of drawn
//! sizes: what large tensors run as, on tensors of a few elements. An interpreter of shaders runs the kernels, which
//! needs no driver and compiles nothing.

use std::process::ExitCode;

use cases::random;
use libtest_mimic::Arguments;
use support::{harness, net};

fn main() -> ExitCode {
    // Before anything uses rayon's global pool, which is one of them.
    #[cfg(feature = "cpu")]
    support::cpu::Host::all();
    harness::compute_in_interpreter();
    let code = harness::run(&Arguments::from_args(), random::tests());
    println!("{} schedules ran", net::interpreted());
    code
}
