//! The examples from the outside, each built once and run as a program.

#[cfg(feature = "gpu")]
mod absent;
#[cfg(feature = "gpu")]
mod adapters;
#[cfg(feature = "gpu")]
mod bare_wgpu;
#[cfg(feature = "gpu")]
mod depth_pyramid;
mod example;
mod inspect;
#[cfg(all(feature = "gpu", feature = "onnx"))]
mod onnx_node;
#[cfg(feature = "gpu")]
mod own_device;
#[cfg(feature = "gpu")]
mod peaks;
#[cfg(feature = "gpu")]
mod pictures;
#[cfg(feature = "gpu")]
mod pool_image;
#[cfg(feature = "onnx")]
mod pool_model;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod roofline;
#[cfg(feature = "gpu")]
mod segnet;
#[cfg(feature = "gpu")]
mod stream;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let tests = inspect::tests().into_iter();
    #[cfg(feature = "onnx")]
    let tests = tests.chain(pool_model::tests());
    #[cfg(feature = "gpu")]
    let tests = tests.chain(with_a_gpu());
    support::harness::run(&Arguments::from_args(), tests.collect())
}

/// The tests of the examples that open a GPU where there is one, and of those that open the CPU where there is none.
#[cfg(feature = "gpu")]
fn with_a_gpu() -> impl Iterator<Item = libtest_mimic::Trial> {
    let lists = [
        adapters::tests(),
        bare_wgpu::tests(),
        depth_pyramid::tests(),
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
