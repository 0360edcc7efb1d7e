//! Devices of others, devices that are lost, memory that does not suffice, threads: what needs devices or processes of
//! its own.

mod faults;
mod first_calls;
mod hosts;
mod loss;
mod memory;
mod pages;
mod refusals;
mod threads;
mod validation;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if let Some(code) = validation::child() {
        return code;
    }
    let arguments = Arguments::from_args();
    let lists = [
        first_calls::tests(),
        hosts::tests(),
        loss::tests(),
        memory::tests(),
        pages::tests(),
        refusals::tests(),
        threads::tests(),
        validation::tests(&arguments),
    ];
    let code = support::harness::run(&arguments, lists.into_iter().flatten().collect());
    if !arguments.list {
        println!("{}", support::device::summary());
    }
    code
}
