//! What the kernels compute and what calls promise, on one device that all tests share.

mod activations;
mod any_wins;
mod beyond_limits;
#[path = "../by_hand/mod.rs"]
mod by_hand;
mod chain;
mod convert;
mod downlevel;
mod either;
mod encode;
mod fuzz;
mod gpu;
#[path = "../../examples/bare_wgpu/host.rs"]
mod host;
mod hosts;
mod kernels;
mod left_out;
mod limits;
mod own_windows;
#[path = "../random/mod.rs"]
mod random;
mod reuse;
#[path = "../streams/mod.rs"]
mod streams;
#[path = "../support"]
mod support {
    pub mod case;
    #[cfg(feature = "cpu")]
    pub mod cpu;
    pub mod device;
    pub mod harness;
    pub mod splitmix;
    pub mod tensors;
}
mod untrusted;
mod untyped;

use std::process::ExitCode;

use libtest_mimic::Arguments;

/// Tells the modules that belong to several binaries whether this one computes on a GPU.
const COMPUTES_ON_GPU: bool = true;

/// What these modules compute on.
fn device() -> wgpu_pooling::Device {
    support::device::gpu().clone().into()
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let lists = [
        activations::tests(),
        any_wins::tests(),
        beyond_limits::tests(),
        by_hand::tests(),
        chain::tests(),
        convert::tests(),
        downlevel::tests(),
        either::tests(),
        encode::tests(),
        fuzz::tests(),
        gpu::tests(),
        hosts::tests(),
        kernels::tests(),
        left_out::tests(),
        limits::tests(),
        random::tests(),
        reuse::tests(),
        streams::tests(),
        own_windows::tests(),
        untrusted::tests(),
        untyped::tests(),
    ];
    let code = support::harness::run(&arguments, lists.into_iter().flatten().collect());
    if !arguments.list {
        println!("{}", support::device::summary());
    }
    code
}
