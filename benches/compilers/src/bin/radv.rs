//! Compiles the kernels of the crate's catalogue with AMD's compiler (ACO in RADV, from Mesa) on null hardware: no GPU
//! is needed, and nothing is run.
//!
//! `cargo run --release -p compilers --bin radv` prints instructions, vector registers, spilled registers and bytes of
//! code of every kernel, for RDNA 3 and RDNA 2. A kernel fails if it spills, has more registers or code than `table.rs`
//! allows, or if one of the figures is more than a twentieth above that of radv.txt, which names the compiler that its
//! figures are of. Exit codes: 1 if a kernel fails, 3 if there is no such driver.
//!
//! The driver is Mesa's RADV behind the Vulkan loader: on Debian and Ubuntu the packages mesa-vulkan-drivers and
//! libvulkan1. Navi31 needs Mesa 23. A newer driver need not be installed: unpack the package of a later release, for
//! example of bookworm-backports, write the full path of the library into its JSON file, and name that file in an
//! environment variable:
//!
//! ```sh
//! apt-get download mesa-vulkan-drivers/bookworm-backports && dpkg-deb -x mesa-vulkan-drivers_*.deb newer
//! driver=$(echo newer/usr/share/vulkan/icd.d/radeon_icd*.json)
//! sed -i "s|\"libvulkan_radeon|\"$PWD/newer/usr/lib/x86_64-linux-gnu/libvulkan_radeon|" $driver
//! VK_DRIVER_FILES=$PWD/$driver cargo run --release -p compilers --bin radv
//! ```

use std::collections::BTreeSet;
use std::process::{Command, ExitCode};
use std::time::Instant;

use clap::Parser;
use compilers::listed::kernels;
use compilers::part::{Part, each, processors};
use compilers::source::Source;
use compilers::table::{Figures, Table, line};
use compilers::vulkan::Compiler;
use serde::{Deserialize, Serialize};

/// The checked-in figures.
const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/radv.txt");
/// The exit code if there is no driver to judge with.
const NO_DRIVER: u8 = 3;
/// The GPUs that are compiled for, by the driver's names, with what the driver has to be.
const GPUS: [(&str, &str); 2] = [("navi31", "Mesa 23 or later"), ("navi21", "Mesa 21 or later")];

/// Judges kernels by AMD's compiler, without a GPU
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    part: Part,
    /// Print only the kernels that fail
    #[arg(long)]
    failures: bool,
    /// Write radv.txt anew, for the GPU that it names
    #[arg(long, conflicts_with_all = ["sample", "seconds"])]
    write: bool,
    /// Compile for the GPU of the environment, and print a `Compiled`
    #[arg(long, hide = true)]
    worker: bool,
}

/// What the driver made of the kernels for a GPU.
#[derive(Serialize, Deserialize)]
struct Compiled {
    driver: String,
    /// How many there are; those that are left out included.
    all: usize,
    kernels: Vec<(String, Result<Figures, String>)>,
}

/// Why there are no figures.
enum Failure {
    NoDriver(String),
    Fault(String),
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = if options.worker { work(&options.part) } else { judge(&options) };
    outcome.unwrap_or_else(|failure| match failure {
        Failure::NoDriver(why) => {
            eprintln!("{why}");
            ExitCode::from(NO_DRIVER)
        }
        Failure::Fault(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    })
}

/// The driver reads the GPU from the environment only once, and an unknown one or a fault of the compiler ends the
/// process: for each GPU this program runs once more.
fn work(part: &Part) -> Result<ExitCode, Failure> {
    let compiler = Compiler::open().map_err(|what| {
        Failure::NoDriver(format!(
            "{what}. What compiles here is Mesa's RADV behind the Vulkan loader: on Debian and Ubuntu the packages \
             mesa-vulkan-drivers and libvulkan1. VK_DRIVER_FILES names the radeon_icd.json of a driver elsewhere."
        ))
    })?;
    let end = part.end();
    let kernels: Vec<_> = kernels().map_err(Failure::Fault)?.into_iter().collect();
    let all = kernels.len();
    let kernels = part.of(kernels, |(name, _)| name.split(':').next().unwrap_or_default().to_owned());
    let mut kernels = each(&kernels, processors(), end, |(name, text)| {
        (name.clone(), Source::parse(text).and_then(|source| compiler.compile(&source)))
    });
    kernels.sort_by(|(a, _), (b, _)| a.cmp(b));
    let compiled = Compiled { driver: compiler.driver().to_owned(), all, kernels };
    println!("{}", serde_json::to_string(&compiled).map_err(|error| Failure::Fault(error.to_string()))?);
    Ok(ExitCode::SUCCESS)
}

/// What a worker says for a GPU; nothing if the driver does not know it.
fn compiled(gpu: &str, part: &Part) -> Result<Option<Compiled>, Failure> {
    let fault = |error: std::io::Error| Failure::Fault(error.to_string());
    let mut worker = Command::new(std::env::current_exe().map_err(fault)?);
    worker.arg("--worker").arg("--seed").arg(part.seed.to_string());
    worker.args(part.sample.map(|sample| format!("--sample={sample}")));
    worker.args(part.seconds.map(|seconds| format!("--seconds={seconds}")));
    // Without the cache, every kernel is compiled by this driver now.
    worker.env("RADV_FORCE_FAMILY", gpu).env("MESA_SHADER_CACHE_DISABLE", "true");
    let output = worker.output().map_err(fault)?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let compiled = serde_json::from_slice(&output.stdout);
        return compiled.map(Some).map_err(|error| Failure::Fault(format!("{error}: {said}")));
    }
    if said.contains("Unknown family") {
        return Ok(None);
    }
    if output.status.code() == Some(NO_DRIVER.into()) {
        return Err(Failure::NoDriver(said.trim().to_owned()));
    }
    Err(Failure::Fault(format!("the driver's process ended, {}: {}", output.status, said.trim())))
}

fn judge(options: &Options) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(TABLE).map_err(|error| Failure::Fault(format!("{TABLE}: {error}")))?;
    let mut table = Table::parse(&text).map_err(|error| Failure::Fault(format!("{TABLE}: {error}")))?;
    let (mut ran, mut all, mut failed, mut gpus) = (0, 0, 0, Vec::new());
    let begun = Instant::now();
    for ((gpu, needs), left) in GPUS.into_iter().zip((1..=GPUS.len() as u64).rev()) {
        let seconds = options.part.seconds.map(|all| all.saturating_sub(begun.elapsed().as_secs()) / left);
        let Some(compiled) = compiled(gpu, &Part { seconds, ..options.part.clone() })? else {
            eprintln!("{gpu} is left out: it needs {needs}. VK_DRIVER_FILES names the radeon_icd.json of a driver.");
            continue;
        };
        let compiler = format!("{gpu}, {}", short(&compiled.driver));
        if options.write && table.compiler.starts_with(gpu) {
            table = written(&compiler, &compiled)?;
        }
        if table.compiler.starts_with(gpu) && table.compiler != compiler {
            println!("the figures of radv.txt are of {}: {compiler} has to keep the limits alone", table.compiler);
        }
        for (name, found) in &compiled.kernels {
            let faults = match found {
                Ok(found) => table.faults(&compiler, name, *found),
                Err(error) => vec![error.clone()],
            };
            if let (Ok(found), true) = (found, !options.failures || !faults.is_empty()) {
                println!("{} ({gpu})", line(name, *found));
            }
            faults.iter().for_each(|fault| println!("FAILS: {name} ({gpu}): {fault}"));
            failed += usize::from(!faults.is_empty());
        }
        if table.compiler == compiler && compiled.kernels.len() == compiled.all {
            let listed: BTreeSet<&String> = compiled.kernels.iter().map(|(name, _)| name).collect();
            for name in table.kernels.keys().filter(|name| !listed.contains(name)) {
                println!("FAILS: {name} ({gpu}): no row has it any more; --write rewrites the table");
                failed += 1;
            }
        }
        (ran, all) = (ran + compiled.kernels.len(), all + compiled.all);
        gpus.push(compiler);
    }
    if gpus.is_empty() {
        return Err(Failure::NoDriver("the driver knows none of the GPUs".to_owned()));
    }
    println!("ran {ran} of {all} kernels for {}, {failed} failed", gpus.join(" and "));
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes radv.txt.
fn written(compiler: &str, compiled: &Compiled) -> Result<Table, Failure> {
    let figures = compiled.kernels.iter().map(|(name, found)| Ok((name.clone(), found.clone()?)));
    let kernels = figures.collect::<Result<_, String>>().map_err(Failure::Fault)?;
    let table = Table { compiler: compiler.to_owned(), kernels };
    std::fs::write(TABLE, table.text()).map_err(|error| Failure::Fault(format!("{TABLE}: {error}")))?;
    Ok(table)
}

/// The version of a driver without its last part.
fn short(driver: &str) -> String {
    driver.split('.').take(2).collect::<Vec<_>>().join(".")
}
