//! What the kernels compute and what calls promise, on one device that all tests share.

mod activations;
mod agree;
mod any_wins;
mod beyond_limits;
mod chain;
mod downlevel;
mod either;
mod encode;
mod fuzz;
mod gpu;
mod hosts;
mod kernels;
mod left_out;
mod limits;
mod measure;
mod own_windows;
mod reuse;
mod untrusted;
mod untyped;

use std::process::ExitCode;

use cases::streams;
use libtest_mimic::Arguments;
use support::device::summary;
use support::harness;

fn main() -> ExitCode {
    harness::compute_on_gpu();
    let arguments = Arguments::from_args();
    let lists = [
        activations::tests(),
        any_wins::tests(),
        beyond_limits::tests(),
        chain::tests(),
        downlevel::tests(),
        either::tests(),
        encode::tests(),
        fuzz::tests(),
        gpu::tests(),
        hosts::tests(),
        kernels::tests(),
        left_out::tests(),
        limits::tests(),
        measure::tests(),
        reuse::tests(),
        streams::tests(),
        own_windows::tests(),
        untrusted::tests(),
        untyped::tests(),
    ];
    let code = harness::run(&arguments, lists.into_iter().flatten().collect());
    if !arguments.list {
        println!("{}", summary());
    }
    code
}
