//! What calls of the CPU backend promise, and the modules that a GPU runs too, in the binary `device`.

mod stops;
#[path = "../streams/mod.rs"]
mod streams;
#[path = "../support"]
mod support {
    pub mod harness;
}

use std::process::ExitCode;

use libtest_mimic::Arguments;
use wgpu_pooling::{Cpu, Device};

/// Tells the modules that belong to several binaries whether this one computes on a GPU.
const COMPUTES_ON_GPU: bool = false;

/// What these modules compute on.
fn device() -> Device {
    Cpu::new().into()
}

fn main() -> ExitCode {
    let lists = [stops::tests(), streams::tests()];
    support::harness::run(&Arguments::from_args(), lists.into_iter().flatten().collect())
}
