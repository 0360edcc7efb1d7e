//! The command line.

use std::path::PathBuf;

use clap::Parser;
use examples::engine::Where;
use examples::numbers::number;

/// Finds the bright objects of a picture: the pixels that are the maximum of the window around them, by a dilation.
/// Lists the brightest and writes the picture with rings around them as PNG.
///
/// The picture is made grey and smoothed on the CPU. The dilation is computed on the GPU, or on the CPU, and once more
/// by the reference; the two have to agree bit for bit.
#[derive(Debug, Parser)]
#[command(name = "peaks")]
pub struct Options {
    /// A PNG or JPEG file [default: galaxies, by the Hubble telescope]
    pub picture: Option<PathBuf>,

    /// The side of the window in which a peak is the maximum, in pixels; an odd number
    #[arg(long, value_name = "PIXELS", default_value = "15", value_parser = window, allow_hyphen_values = true)]
    pub window: i64,

    /// The least brightness of a peak, from 0 to 255
    #[arg(long, value_name = "BRIGHTNESS", default_value = "60", value_parser = threshold, allow_hyphen_values = true)]
    pub threshold: f64,

    /// How many peaks to list and to mark
    #[arg(long, value_name = "N", default_value = "30")]
    pub top: usize,

    /// The PNG file to write
    #[arg(long, value_name = "FILE", default_value = "peaks.png", value_parser = png)]
    pub out: PathBuf,

    #[command(flatten)]
    pub place: Where,
}

/// The largest window. The reference looks at every pixel of every window, and would take minutes with a larger one.
const LARGEST_WINDOW: i64 = 63;

/// A window with a pixel in its middle.
fn window(text: &str) -> Result<i64, String> {
    let side: i64 = number(text)?;
    match side {
        1..=LARGEST_WINDOW if side % 2 == 1 => Ok(side),
        1..=LARGEST_WINDOW => Err(format!("a window of {side} pixels has none in its middle")),
        _ => Err(format!("a window of {side} pixels, expected 1 to {LARGEST_WINDOW}")),
    }
}

/// A number other than NaN, which cannot be compared.
fn threshold(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(threshold) if !threshold.is_nan() => Ok(threshold),
        _ => Err(format!("{text:?} is not a number")),
    }
}

/// A file name that ends in .png.
fn png(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(path),
        _ => Err("a PNG file is written, so its name has to end in .png".to_owned()),
    }
}
