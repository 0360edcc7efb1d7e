//! The CPU backend beside the reference, what its calls promise, and the modules that a GPU runs too, in the program
//! `device`.

mod backend;
mod stops;

use std::process::ExitCode;

use cases::streams;
use libtest_mimic::Arguments;
use support::harness;

fn main() -> ExitCode {
    let lists = [backend::tests(), stops::tests(), streams::tests()];
    harness::run(&Arguments::from_args(), lists.into_iter().flatten().collect())
}
