//! The reference, and the CPU backend beside it. The cases that are worked out by hand or drawn at random are computed
//! here without a device, and once more on a device in the binary `device`.

#[cfg(feature = "ndarray")]
mod arrays;
mod convert;
#[cfg(feature = "cpu")]
mod cpu;
mod fuzz;

use std::process::ExitCode;

use libtest_mimic::Arguments;
use support::{by_hand, harness, random};

fn main() -> ExitCode {
    let lists = [
        #[cfg(feature = "ndarray")]
        arrays::tests(),
        by_hand::tests(),
        convert::tests(),
        #[cfg(feature = "cpu")]
        cpu::tests(),
        fuzz::tests(),
        random::tests(),
    ];
    harness::run(&Arguments::from_args(), lists.into_iter().flatten().collect())
}
