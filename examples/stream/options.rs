//! The command line.

use std::path::PathBuf;

use clap::Parser;
use examples::by_box::{BY_BOX, ByBox};
use examples::engine::Where;
use examples::named::named;
use wgpu_pooling::{DType, IndexType, Layout, MaxPool, Plan, PlanError};

/// Max-pools a tensor in a file, of any size, in the memory that you allow, or dilates, opens or closes it: it is read,
/// computed and written tile by tile.
///
/// Files are .npy or .safetensors. Without a file the program makes one that is larger than a small budget, pools it,
/// and compares the result with the reference.
#[derive(Debug, Parser)]
#[command(name = "stream")]
pub struct Options {
    /// The tensor: N, C and spatial axes, or N, spatial axes and C with --layout nhwc
    pub input: Option<PathBuf>,

    /// A dilation, an opening or the like instead of a max pool; --kernel is the extent of its box
    #[arg(long, value_parser = named(&BY_BOX, |operator| operator.0))]
    #[arg(conflicts_with_all = ["stride", "pads", "dilation"])]
    pub operator: Option<(&'static str, ByBox)>,

    /// The extent of the window, or of the box, along every spatial axis
    #[arg(long, value_name = "N", default_value_t = 2, allow_hyphen_values = true)]
    pub kernel: i64,

    /// Distance from one window to the next along every spatial axis [default: the kernel]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub stride: Option<i64>,

    /// Padding before and after every spatial axis
    #[arg(long, value_name = "N", default_value_t = 0, allow_hyphen_values = true)]
    pub pads: i64,

    /// Distance from one tap of a window to the next along every spatial axis
    #[arg(long, value_name = "N", default_value_t = 1, allow_hyphen_values = true)]
    pub dilation: i64,

    /// The layout: channels before or after the spatial axes
    #[arg(long, default_value = "nchw", value_parser = named(&LAYOUTS, |layout| layout.0))]
    pub layout: (&'static str, Layout),

    /// The most memory to hold at a time, on the host and on the device together: bytes, or with KiB, MiB, GiB
    /// [default: 256MiB, 16MiB without a file]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub budget: Option<u64>,

    /// The file to write the maxima to, .npy or .safetensors [default: y.npy]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// The file to write the 64-bit indices of the maxima to
    #[arg(long, value_name = "FILE")]
    pub indices: Option<PathBuf>,

    /// Which tensor of a safetensors file
    #[arg(long, value_name = "NAME")]
    pub tensor: Option<String>,

    /// Compute the result once more by the reference and compare
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub place: Where,
}

const LAYOUTS: [(&str, Layout); 2] = [("nchw", Layout::Nchw), ("nhwc", Layout::Nhwc)];

impl Options {
    /// The plan for an X of this shape and type.
    pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
        let (axes, layout) = (shape.len().saturating_sub(2), self.layout.1);
        if let Some((_, plan)) = self.operator {
            return plan(&vec![self.kernel; axes], shape, dtype, layout, indices);
        }
        let strides = vec![self.stride.unwrap_or(self.kernel); axes];
        let pool = MaxPool::new(vec![self.kernel; axes]).strides(strides).pads(vec![self.pads; 2 * axes]);
        pool.dilations(vec![self.dilation; axes]).layout(layout).plan(shape, dtype, indices)
    }
}

/// A number of bytes.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        other => return Err(format!("{other:?} is not a unit, expected KiB, MiB or GiB")),
    };
    let number: u64 = digits.trim().parse().map_err(|_| format!("{text:?} is not a size such as 256MiB"))?;
    number.checked_mul(unit).ok_or_else(|| format!("{text} is more than 64 bits hold"))
}
