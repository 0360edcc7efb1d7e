//! What calls of the CPU backend promise, and the modules that a GPU runs too, in the binary `device`.

mod stops;

use std::process::ExitCode;

use libtest_mimic::Arguments;
use support::{harness, streams};

fn main() -> ExitCode {
    let lists = [stops::tests(), streams::tests()];
    harness::run(&Arguments::from_args(), lists.into_iter().flatten().collect())
}
