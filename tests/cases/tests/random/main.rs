//! The cases that are worked out by hand or drawn at random, on a GPU.

use std::process::ExitCode;

use cases::{by_hand, random};
use libtest_mimic::Arguments;
use support::device::summary;
use support::harness;

fn main() -> ExitCode {
    harness::compute_on_gpu();
    let arguments = Arguments::from_args();
    let lists = [by_hand::tests(), random::tests()];
    let code = harness::run(&arguments, lists.into_iter().flatten().collect());
    if !arguments.list {
        println!("{}", summary());
    }
    code
}
