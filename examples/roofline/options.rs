//! The command line.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::builder::TypedValueParser;
use clap::{Args, Parser};
use wgpu_pooling::{DType, NanPolicy};

use crate::catalogue;
use crate::clock::Clock;
use crate::data::{Data, noise};
use crate::gpu::Wanted;

/// How close to the speed of memory: every row of the catalogue, verified, then timed beside a copy of the same bytes.
///
/// What is called selected is the kernel that the library takes by itself; the others that apply are timed beside it. In
/// each round copy and kernels run in turn, and the best of the rounds counts. Times of copy and kernels from one run
/// compare; those of two runs, or of two machines, do not.
#[derive(Debug, Parser)]
#[command(name = "roofline")]
pub struct Options {
    /// Rows from this file instead of the crate's own
    #[arg(long, value_name = "FILE")]
    pub catalogue: Option<PathBuf>,

    /// Only rows of which one of these is a part of the name
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub rows: Vec<String>,

    /// Element types; without it what the row says, or f32
    #[arg(long, value_name = "TYPE,..", value_delimiter = ',', value_parser = catalogue::dtype)]
    pub dtypes: Vec<DType>,

    /// Makes every row about this many times smaller: fewer batch items, then channels, then smaller extents
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub shrink: u64,

    /// Rounds, of which the best counts
    #[arg(long, value_name = "N", default_value = "7", value_parser = count(1000))]
    pub rounds: usize,

    /// How long each kernel runs in a round at least
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub pass: u64,

    /// How many elements the reference may look at for a row; at least one plane is verified. Without it 2^31, of a sweep's
    /// geometries 2^26
    #[arg(long, value_name = "N")]
    pub verify_taps: Option<u64>,

    /// Only the selected kernel; --sweep has no others anyway
    #[arg(long)]
    pub selected_only: bool,

    /// Leaves out other kernels of more loop iterations than this; without it 2^36, on software adapters 2^30
    #[arg(long, value_name = "N")]
    pub others_limit: Option<u64>,

    /// The buffers in turn are together at least so large; without it 256, on software adapters 8
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    pub cache: Option<u64>,

    /// What all buffers of a row may take, while one set of them has to fit; without it 8192, on software adapters 1024
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory: Option<u64>,

    /// What tensors are filled with
    #[arg(long, value_enum, default_value_t = Data::Mixed)]
    pub data: Data,

    /// What a NaN does in rows of floats: seed-first, propagate-last or seed-lowest; without it what the row says, or seed-first
    #[arg(long, value_name = "POLICY", value_parser = catalogue::nan_policy)]
    pub nan_policy: Option<NanPolicy>,

    /// What times are measured by; without it device, on software adapters cpu
    #[arg(long, value_enum)]
    pub clock: Option<Clock>,

    /// Writes everything as JSON, rewritten after each row; - is standard output instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// The table as markdown
    #[arg(long)]
    pub markdown: bool,

    /// Only lists the rows; needs no GPU
    #[arg(long)]
    pub list: bool,

    /// Rows that exceed the device are said, but are no failure
    #[arg(long)]
    pub skip_too_large: bool,

    #[command(flatten)]
    pub gpu: Wanted,

    // Last, since its heading holds for all that follows.
    #[command(flatten)]
    pub sweep: Sweep,
}

// Geometries at random, as options. A documentation comment here would become the help of the whole program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Random geometries instead of rows")]
pub struct Sweep {
    /// So many geometries drawn at random, numbered from 0, and how their ratios are distributed; each follows from the seed
    /// and its number alone
    #[arg(long = "sweep", value_name = "N", value_parser = count(1_000_000))]
    #[arg(conflicts_with_all = ["catalogue", "rows", "shrink", "numbers"])]
    pub count: Option<usize>,

    /// Only the geometries with these numbers, in every kernel that applies
    #[arg(long = "sweep-only", value_name = "K,..", value_delimiter = ',', id = "numbers")]
    #[arg(conflicts_with_all = ["catalogue", "rows", "shrink"], requires = "seed")]
    pub numbers: Vec<u64>,

    /// What geometries are drawn from; without it another one each time, which the report says
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// The fewest bytes that a geometry moves; the most are about four times as many
    #[arg(long = "sweep-bytes", value_name = "BYTES", default_value_t = 8 << 20)]
    #[arg(value_parser = clap::value_parser!(u64).range(1 << 12..=1 << 32))]
    pub bytes: u64,

    /// No geometry's windows look at more elements than this
    #[arg(long = "sweep-taps", value_name = "N", default_value_t = 1 << 32)]
    #[arg(value_parser = clap::value_parser!(u64).range(1 << 20..))]
    pub taps: u64,
}

impl Sweep {
    /// The numbers of the geometries; none if rows are asked for.
    pub fn numbers(&self) -> Vec<u64> {
        match self.count {
            Some(count) => (0..count as u64).collect(),
            None => self.numbers.clone(),
        }
    }

    /// The seed that is given, or one from the clock, short enough to be typed.
    pub fn seed_or_new(&self) -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.seed.unwrap_or(noise(since.as_nanos() as u64) % 1_000_000)
    }
}

impl Options {
    pub fn json_to_stdout(&self) -> bool {
        self.json.as_ref().is_some_and(|path| path.as_os_str() == "-")
    }
}

fn count(most: u64) -> impl TypedValueParser<Value = usize> {
    clap::value_parser!(u64).range(1..=most).map(|count| count as usize)
}
