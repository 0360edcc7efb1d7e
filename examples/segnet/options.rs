//! The command line.

use clap::Parser;
use clap::builder::TypedValueParser;
use examples::gpu::Wanted;
use examples::named::named;
use examples::numbers::{number, pair};

use wgpu_pooling::DType;

/// The pools and unpools of an encoder-decoder network in the manner of SegNet, chained on the device: pools go down
/// and leave their indices there, unpools come back up by them, and only the last tensor returns.
///
/// There are no convolutions between them: the example shows how data moves, and is no model. The last tensor is
/// computed once more by the reference; both have to agree bit for bit.
#[derive(Debug, Parser)]
#[command(name = "segnet")]
pub struct Options {
    /// The number of pools, and of the unpools that undo them
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = levels(), allow_hyphen_values = true)]
    pub levels: u32,

    /// Height and width of the input: one number, or both as 360x480
    #[arg(long, default_value = "256", value_parser = size, allow_hyphen_values = true)]
    pub size: [usize; 2],

    /// The number of images in the input
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive, allow_hyphen_values = true)]
    pub batch: usize,

    /// The number of channels of the input, and of every tensor after it
    #[arg(long, value_name = "N", default_value = "16", value_parser = positive, allow_hyphen_values = true)]
    pub channels: usize,

    /// The type of the elements
    #[arg(long, default_value = "f32", value_parser = named(&TYPES, DType::name))]
    pub dtype: DType,

    /// Measure each step with the device's clock, in a second run of the chain
    #[arg(long)]
    pub timings: bool,

    #[command(flatten)]
    pub gpu: Wanted,
}

/// The element types to choose from.
const TYPES: [DType; 4] = [DType::F32, DType::F16, DType::Bf16, DType::U8];

/// The number of levels: more than 16 would need sides of 2^17 elements.
fn levels() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=16)
}

fn size(text: &str) -> Result<[usize; 2], String> {
    let size = pair(text)?;
    if size.contains(&0) { Err(ZERO.to_owned()) } else { Ok(size) }
}

fn positive(text: &str) -> Result<usize, String> {
    let number = number(text)?;
    if number == 0 { Err(ZERO.to_owned()) } else { Ok(number) }
}

const ZERO: &str = "0, expected at least 1";
