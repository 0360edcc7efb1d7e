//! The cases that are worked out by hand or drawn at random, on the reference and, where it is, on the CPU backend. The
//! program `random` has them once more on a GPU.

mod convert;
mod fuzz;
mod local_maxima;

use std::process::ExitCode;

use cases::{by_hand, random};
use libtest_mimic::Arguments;
use support::harness;

fn main() -> ExitCode {
    // Before anything uses rayon's global pool, which is one of them.
    #[cfg(feature = "cpu")]
    support::cpu::Host::all();
    let lists = [by_hand::tests(), convert::tests(), fuzz::tests(), local_maxima::tests(), random::tests()];
    harness::run(&Arguments::from_args(), lists.into_iter().flatten().collect())
}
