//! Max-pools a tensor in a file that is larger than the memory that the program may take.
//!
//! `cargo run --release --example stream -- x.npy --kernel 2 --stride 2 --budget 256MiB --out y.npy`; without arguments
//! it makes a file of its own. `--help` lists the options.

mod check;
mod file;
mod format;
mod options;
mod own;
mod progress;

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use examples::agreement::agreement;
use examples::common;
use file::{Input, Output};
use options::Options;
use progress::Progress;
use wgpu_pooling::{Backend, DType, IndexType, Plan, Stream, TensorSpec};

fn main() -> ExitCode {
    common::main(run)
}

/// What is read, what is written, and in how much memory.
struct Job {
    input: PathBuf,
    out: PathBuf,
    budget: u64,
    check: bool,
}

/// Runs the example and appends what it finds to `report`, which is printed even if an error follows.
fn run(options: &Options, report: &mut String) -> Result<(), Box<dyn Error>> {
    let Some(input) = &options.input else {
        let budget = options.budget.unwrap_or(16 << 20);
        // The folder is removed when this function ends, also after an error.
        let folder = own::Folder::create()?;
        let input = folder.tensor(options.layout.1, budget)?;
        let out = options.out.clone().unwrap_or_else(|| folder.path().join("y.npy"));
        return pool(options, &Job { input, out, budget, check: true }, report);
    };
    let out = options.out.clone().unwrap_or_else(|| PathBuf::from("y.npy"));
    let budget = options.budget.unwrap_or(256 << 20);
    pool(options, &Job { input: input.clone(), out, budget, check: options.check }, report)
}

fn pool(options: &Options, job: &Job, report: &mut String) -> Result<(), Box<dyn Error>> {
    let input = Input::open(&job.input, options.tensor.as_deref())?;
    let indices = options.indices.as_deref();
    for (written, other) in [(Some(job.out.as_path()), indices), (indices, None)] {
        let Some(written) = written else { continue };
        if same_file(written, &job.input) {
            return Err(format!("{} would be written over what is read", written.display()).into());
        }
        if Some(written) == other {
            return Err("--out and --indices name the same file".into());
        }
    }
    let plan = options.plan(&input.header.shape, input.header.dtype, indices.map(|_| IndexType::I64))?;
    let (device, name) = options.place.open()?;
    writeln!(report, "computed on  {name}")?;
    let of = |spec: &TensorSpec| format!("{} {:?}, {}", spec.dtype.name(), spec.shape, mebibytes(spec.bytes()));
    writeln!(report, "x            {}", of(&plan.inputs()[0]))?;
    writeln!(report, "y            {}", of(&plan.outputs()[0]))?;
    compute(&*device, &plan, input, job, indices, report)
}

fn compute(
    device: &dyn Backend,
    plan: &Plan,
    mut input: Input,
    job: &Job,
    indices_path: Option<&Path>,
    report: &mut String,
) -> Result<(), Box<dyn Error>> {
    let mut y = Output::create(&job.out, "y", plan.inputs()[0].dtype, plan.output_shape())?;
    let mut indices = match indices_path {
        Some(path) => Some(Output::create(path, "indices", DType::I64, &plan.outputs()[1].shape)?),
        None => None,
    };
    let mut progress = Progress::new()?;
    let mut stream = Stream::new(plan.clone(), job.budget).source(&mut input).sink(&mut y);
    if let Some(indices) = &mut indices {
        stream = stream.sink(indices);
    }
    let streamed = stream.progress(|so_far| progress.tell(so_far)).run_blocking(device);
    drop(progress);
    let streamed = streamed?;
    y.finish()?;
    indices.map_or(Ok(()), Output::finish)?;
    writeln!(report, "budget       {}", mebibytes(job.budget))?;
    writeln!(report, "held         {} at most", mebibytes(streamed.peak_bytes))?;
    writeln!(report, "tiles        {}", streamed.tiles)?;
    if streamed.bytes_uploaded > 0 {
        let (up, down) = (mebibytes(streamed.bytes_uploaded), mebibytes(streamed.bytes_downloaded));
        writeln!(report, "moved        {up} up, {down} down")?;
    }
    if let Some(peak) = process_peak() {
        writeln!(report, "process      {} at most", mebibytes(peak))?;
    }
    writeln!(report, "wrote        {}", job.out.display())?;
    if let Some(path) = indices_path {
        writeln!(report, "wrote        {}", path.display())?;
    }
    if job.check {
        let agreed = check::compare(plan, &mut input, &job.out, indices_path)?;
        writeln!(report, "agreement    {}", agreement(agreed))?;
    }
    Ok(())
}

/// Whether two names are of the same existing file.
fn same_file(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64)
}

/// The most memory that this process ever had, if the system reports it.
fn process_peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}
