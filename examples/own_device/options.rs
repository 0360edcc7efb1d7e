//! The command line.

use std::path::PathBuf;

use clap::Parser;
use examples::gpu::Wanted;

/// An application that has its own wgpu device and its own kernels, and lets wgpu-pooling encode into its command
/// encoder: it draws waves, marks the brightest red, green and blue pixel of every window, and writes the picture as
/// PNG.
///
/// The results of the pool and the unpool are computed once more by the reference; both have to agree bit
/// for bit.
#[derive(Debug, Parser)]
#[command(name = "own_device")]
pub struct Options {
    /// The side of the picture, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub size: u32,

    /// The side of the windows, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 16, allow_negative_numbers = true)]
    pub window: i64,

    /// The PNG file to write
    #[arg(long, value_name = "FILE", default_value = "own_device.png")]
    pub out: PathBuf,

    #[command(flatten)]
    pub gpu: Wanted,
}
