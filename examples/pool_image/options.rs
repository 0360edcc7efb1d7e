//! The command line.

use std::path::PathBuf;

use clap::Parser;
use examples::engine::Where;
use examples::numbers::{numbers, pair};

/// Max-pools a picture with argmax, unpools it again, pools it adaptively to a grid, and writes what comes out as PNG.
///
/// Everything is computed on the GPU, or on the CPU, and once more by the reference; the two have to agree bit for bit.
#[derive(Debug, Parser)]
#[command(name = "pool_image")]
pub struct Options {
    /// A PNG or JPEG file [default: a cat]
    pub picture: Option<PathBuf>,

    /// Window of the max pool: one number, or height and width as 3,2 or 3x2
    #[arg(long, default_value = "2", value_parser = pair::<i64>, allow_hyphen_values = true)]
    pub kernel: [i64; 2],

    /// Distance from one window to the next, in pixels: one number, or height and width [default: the kernel]
    #[arg(long, value_parser = pair::<i64>, allow_hyphen_values = true)]
    pub stride: Option<[i64; 2]>,

    /// Padding: one number, height and width, or top,left,bottom,right
    #[arg(long, default_value = "0", value_parser = pads, allow_hyphen_values = true)]
    pub pads: [i64; 4],

    /// Rows and columns of the adaptive pool, as 7x7
    #[arg(long, default_value = "24x36", value_parser = grid, allow_hyphen_values = true)]
    pub grid: [i64; 2],

    #[command(flatten)]
    pub place: Where,

    /// The folder to write to; it is made if it does not exist
    #[arg(long, value_name = "DIR", default_value = "pool_image_out")]
    pub out: PathBuf,
}

impl Options {
    /// The stride; by default it is the kernel.
    pub fn stride(&self) -> [i64; 2] {
        self.stride.unwrap_or(self.kernel)
    }
}

/// One number for all sides, two for the axes, or four: the begins, then the ends, as ONNX has them.
fn pads(text: &str) -> Result<[i64; 4], String> {
    match numbers(text)?[..] {
        [all] => Ok([all; 4]),
        [height, width] => Ok([height, width, height, width]),
        [top, left, bottom, right] => Ok([top, left, bottom, right]),
        ref other => Err(format!("{} numbers, expected one, height and width, or top,left,bottom,right", other.len())),
    }
}

/// Rows and columns. The library accepts empty outputs, but a picture needs pixels.
fn grid(text: &str) -> Result<[i64; 2], String> {
    let [rows, columns] = pair(text)?;
    if rows < 1 || columns < 1 {
        return Err(format!("a grid of {rows} x {columns} has no cells"));
    }
    Ok([rows, columns])
}
