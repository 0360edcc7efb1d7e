//! The examples from the outside, each built once and run as a program.

#[cfg(all(feature = "cpu", feature = "gpu"))]
mod absent;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod adapters;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod bare_wgpu;
mod example;
mod inspect;
#[cfg(all(feature = "cpu", feature = "gpu", feature = "onnx"))]
mod onnx_node;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod own_device;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod peaks;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod pictures;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod pool_image;
#[cfg(all(feature = "cpu", feature = "onnx"))]
mod pool_model;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod roofline;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod segnet;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod stream;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let tests = inspect::tests().into_iter();
    #[cfg(all(feature = "cpu", feature = "onnx"))]
    let tests = tests.chain(pool_model::tests());
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    let tests = tests.chain(with_a_gpu());
    support::harness::run(&Arguments::from_args(), tests.collect())
}

/// The tests of the examples that open a GPU where there is one, and of those that open the CPU where there is none.
#[cfg(all(feature = "cpu", feature = "gpu"))]
fn with_a_gpu() -> impl Iterator<Item = libtest_mimic::Trial> {
    let lists = [
        adapters::tests(),
        bare_wgpu::tests(),
        #[cfg(feature = "onnx")]
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
