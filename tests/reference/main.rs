//! The reference, and the CPU backend beside it. The cases that are worked out by hand or drawn at random are computed
//! here without a device, and once more on a device in the binary `device`.

#[cfg(feature = "ndarray")]
mod arrays;
#[path = "../by_hand/mod.rs"]
mod by_hand;
#[cfg(feature = "cpu")]
mod cpu;
mod fuzz;
#[path = "../random/mod.rs"]
mod random;
#[path = "../support"]
mod support {
    #[cfg(feature = "cpu")]
    pub mod case;
    #[cfg(feature = "cpu")]
    pub mod cpu;
    #[cfg(feature = "gpu")]
    pub mod device;
    pub mod harness;
    #[cfg(feature = "cpu")]
    pub mod nasty;
    pub mod place;
    pub mod splitmix;
}

use std::process::ExitCode;

use libtest_mimic::Arguments;

/// Tells the modules that belong to several binaries whether this one computes on a GPU.
const COMPUTES_ON_GPU: bool = false;

fn main() -> ExitCode {
    let lists = [
        #[cfg(feature = "ndarray")]
        arrays::tests(),
        by_hand::tests(),
        #[cfg(feature = "cpu")]
        cpu::tests(),
        fuzz::tests(),
        random::tests(),
    ];
    support::harness::run(&Arguments::from_args(), lists.into_iter().flatten().collect())
}
