//! The command line.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::builder::TypedValueParser;
use clap::{Args, Parser};
use wgpu_pooling::{CpuKernel, DType, NanPolicy, SimdLevel};

use crate::adapter::Backend;
use crate::catalogue;
use crate::clock::Clock;
use crate::data::{Data, noise};

/// Measures how close the kernels come to the speed of memory: every row of the catalogue is verified, then timed
/// beside a copy of the same bytes.
///
/// The kernel called selected is the one that the library chooses by itself; all other kernels that apply are timed
/// beside it. In each round the copy and the kernels run in turn, and the best round counts. Times can be compared
/// within one run, but not between two runs or two machines.
#[derive(Debug, Parser)]
#[command(name = "roofline")]
pub struct Options {
    /// Take the rows from this file instead of the crate's own catalogue
    #[arg(long, value_name = "FILE")]
    pub catalogue: Option<PathBuf>,

    /// Run only rows whose name contains one of these
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    pub rows: Vec<String>,

    /// Element types of the rows [default: each row's own, or f32]
    #[arg(long, value_name = "TYPE,..", value_delimiter = ',')]
    pub dtypes: Vec<DType>,

    /// Make every row about this many times smaller: fewer batch items, then channels, then smaller extents
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub shrink: u64,

    /// Make every row that moves more bytes than this smaller, in the same way
    #[arg(long, value_name = "BYTES", conflicts_with = "shrink")]
    #[arg(value_parser = clap::value_parser!(u64).range(1 << 10..))]
    pub row_bytes: Option<u64>,

    /// How many rounds to measure; the best one counts
    #[arg(long, value_name = "N", default_value = "7", value_parser = count(1000))]
    pub rounds: usize,

    /// The least time that each kernel runs in a round
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub pass: u64,

    /// The most taps that the reference computes for a row, but at least one plane [default: 2^31; 2^26 in a sweep]
    #[arg(long, value_name = "N")]
    pub verify_taps: Option<u64>,

    /// Run only the selected kernel, as --sweep does without --all-kernels, and --kernel always
    #[arg(long)]
    pub selected_only: bool,

    /// Run every kernel that applies in a sweep too
    #[arg(long, conflicts_with = "selected_only")]
    pub all_kernels: bool,

    /// Leave out other kernels of more loop iterations than this [default: 2^36; 2^30 on software adapters; 2^28 on
    /// the CPU]
    #[arg(long, value_name = "N")]
    pub others_limit: Option<u64>,

    /// The least total size of the buffer sets that are used in turn [default: 256; 8 on software adapters; on the
    /// CPU 0, which is one set]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(0..=1 << 20))]
    pub cache: Option<u64>,

    /// The most memory for the buffer sets of a row; one set is always made [default: 8192; 1024 on software adapters;
    /// 4096 on the CPU]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub memory: Option<u64>,

    /// What tensors are filled with
    #[arg(long, value_enum, default_value_t = Data::Mixed)]
    pub data: Data,

    /// The NaN rule for rows of floats: seed-first, propagate-last or seed-lowest [default: each row's own, or
    /// seed-first]
    #[arg(long, value_name = "POLICY", value_parser = catalogue::nan_policy)]
    pub nan_policy: Option<NanPolicy>,

    /// The clock that measures times [default: device; cpu on software adapters; wall on the CPU]
    #[arg(long, value_enum)]
    pub clock: Option<Clock>,

    /// Write all figures as JSON to this file after each row; - prints the JSON instead of the table
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Print tables as Markdown
    #[arg(long)]
    pub markdown: bool,

    /// Measure series of geometries instead of rows, of which each should cost little more than the one before, by the
    /// bytes that they move: windows of every power of two and its neighbours, 1 to 20 channels, strides of 1 to 9.
    /// Tensors hold numbers from 0 to 250. --rows chooses among the series
    #[arg(long, conflicts_with_all = ["catalogue", "row_bytes", "shrink", "count", "numbers", "constants"])]
    #[arg(conflicts_with_all = ["data", "nan_policy", "markdown"])]
    pub windows: bool,

    /// Measure what the device costs by itself instead of rows: launches, stores and loads by how neighbours lie,
    /// operations, workgroups, barriers; --shrink makes the memory that they move smaller
    #[arg(long, conflicts_with_all = ["catalogue", "rows", "row_bytes", "dtypes", "list", "markdown"])]
    #[arg(conflicts_with_all = ["count", "numbers"])]
    pub constants: bool,

    /// Only list the rows; needs no GPU
    #[arg(long)]
    pub list: bool,

    /// Report rows that the device cannot hold, but do not fail because of them
    #[arg(long)]
    pub skip_too_large: bool,

    /// Which GPUs to look at, or cpu for the CPU backend; auto takes what WGPU_BACKEND says, or all GPUs
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    pub backend: Backend,

    /// Only an adapter whose name contains this, in any case
    #[arg(long, value_name = "NAME")]
    pub adapter: Option<String>,

    #[command(flatten)]
    pub on_cpu: OnCpu,

    // Last, because its help heading applies to all options after it.
    #[command(flatten)]
    pub sweep: Sweep,
}

// The options of the CPU backend. A documentation comment here would become the help of the whole program.
#[derive(Debug, Args)]
#[command(next_help_heading = "With --backend cpu")]
pub struct OnCpu {
    /// How many threads compute, and copy beside it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = count(1024))]
    pub threads: Option<usize>,

    /// The vector instructions: baseline, avx2 or avx512 [default: the best of this processor]
    #[arg(long, value_name = "LEVEL", value_parser = simd)]
    pub simd: Option<SimdLevel>,

    /// Only this kernel; rows that it does not compute fail [default: the best one for each row]
    #[arg(long, value_name = "NAME", value_parser = kernel)]
    pub kernel: Option<CpuKernel>,
}

impl OnCpu {
    /// The first of the options that was given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.threads.is_some(), "--threads"),
            (self.simd.is_some(), "--simd"),
            (self.kernel.is_some(), "--kernel"),
        ];
        given.into_iter().find_map(|(given, name)| given.then_some(name))
    }
}

fn simd(name: &str) -> Result<SimdLevel, String> {
    named(name, SimdLevel::available(), SimdLevel::name, "none of this processor's")
}

fn kernel(name: &str) -> Result<CpuKernel, String> {
    named(name, CpuKernel::ALL, CpuKernel::name, "no kernel")
}

/// The one of this name.
fn named<T: Copy>(name: &str, all: &[T], of: fn(T) -> &'static str, otherwise: &str) -> Result<T, String> {
    let names: Vec<&str> = all.iter().map(|&one| of(one)).collect();
    let found = all.iter().copied().find(|&one| of(one) == name);
    found.ok_or_else(|| format!("{name:?} is {otherwise}: {}", names.join(", ")))
}

// The options of random geometries. A documentation comment here would become the help of the whole program.
#[derive(Debug, Args)]
#[command(next_help_heading = "Random geometries instead of rows")]
pub struct Sweep {
    /// Measure this many random geometries, numbered from 0, and summarise how their ratios are distributed
    #[arg(long = "sweep", value_name = "N", value_parser = count(1_000_000))]
    #[arg(conflicts_with_all = ["catalogue", "rows", "shrink", "row_bytes", "numbers"])]
    pub count: Option<usize>,

    /// Measure only the geometries with these numbers, in every kernel that applies
    #[arg(long = "sweep-only", value_name = "K,..", value_delimiter = ',', id = "numbers")]
    #[arg(conflicts_with_all = ["catalogue", "rows", "shrink", "row_bytes"], requires = "seed")]
    pub numbers: Vec<u64>,

    /// The seed; a geometry depends on it and on its number alone [default: a new seed, which the report names]
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// The fewest bytes that a geometry moves; the most are about four times as many
    #[arg(long = "sweep-bytes", value_name = "BYTES", default_value_t = 8 << 20)]
    #[arg(value_parser = clap::value_parser!(u64).range(1 << 12..=1 << 32))]
    pub bytes: u64,

    /// The most taps that all windows of a geometry have together
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
