//! The examples from the outside, each built once and run as a program.

#[cfg(feature = "gpu")]
mod absent;
#[cfg(feature = "gpu")]
mod adapters;
#[cfg(feature = "gpu")]
mod bare_wgpu;
mod example;
mod inspect;
#[cfg(feature = "gpu")]
mod onnx_node;
#[cfg(feature = "gpu")]
mod own_device;
#[cfg(feature = "gpu")]
mod peaks;
#[cfg(feature = "gpu")]
mod pictures;
#[cfg(feature = "gpu")]
mod pool_image;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod roofline;
#[cfg(feature = "gpu")]
mod segnet;
#[cfg(feature = "gpu")]
mod stream;
#[path = "../support"]
mod support {
    pub mod harness;
    pub mod place;
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    pub mod splitmix;
}

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let tests = inspect::tests().into_iter();
    #[cfg(feature = "gpu")]
    let tests = tests.chain(with_a_gpu());
    support::harness::run(&Arguments::from_args(), tests.collect())
}

/// The tests of the examples that open a GPU where there is one.
#[cfg(feature = "gpu")]
fn with_a_gpu() -> impl Iterator<Item = libtest_mimic::Trial> {
    let lists = [
        adapters::tests(),
        bare_wgpu::tests(),
        onnx_node::tests(),
        own_device::tests(),
        peaks::tests(),
        pool_image::tests(),
        #[cfg(feature = "cpu")]
        roofline::tests(),
        segnet::tests(),
        stream::tests(),
        #[cfg(unix)]
        stream::interrupted::tests(),
    ];
    lists.into_iter().flatten()
}
