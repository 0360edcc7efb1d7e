//! Compiles every kernel with Microsoft's compilers, which compile wgpu's pipelines on Windows: with FXC for shader
//! model 5.1, which a machine without dxcompiler.dll uses, and with DXC for 6.0.
//!
//! The texts are those of tests/plans/translations/sweep.rs, written as HLSL by naga as wgpu's DX12 backend does. The
//! command fails if a text is refused, takes FXC more than `--most-seconds`, or has a warning about a variable that is
//! read uninitialised. It prints the slowest files and the codes of all warnings. The whole sweep takes long;
//! `--sample` takes a random part.
//!
//! ```sh
//! # On Windows, with the SDK's fxc and dxc in PATH:
//! cargo run --release -p compilers --bin microsoft -- --sample 200
//! # Elsewhere, with a program that compiles many files in one go (src/shell.rs says what it is given and prints):
//! cargo run --release -p compilers --bin microsoft -- --fxc "wine64 hlslc.exe fxc" --only fxc
//! ```
//!
//! Exit codes: 1 where a text fails, 3 where a compiler cannot be run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use compilers::shell::{Shell, Went, is_of_uninitialised, warnings};
use compilers::spirv::Source;
use compilers::{hlsl, sweep};
use naga::back::hlsl::ShaderModel;

/// The exit code if a compiler cannot be run.
const NO_COMPILER: u8 = 3;
/// How often a file that took too long is compiled again, alone: another program may have had the processor.
const AGAIN: usize = 2;

/// Compiles every kernel with FXC and DXC
#[derive(Parser)]
struct Options {
    /// The command for FXC: the compiler's own with {target} and {file}, or one that takes TARGET FILES...
    #[arg(long, value_name = "CMD", default_value = "fxc /nologo /Ges /T {target} /E main {file}")]
    fxc: String,
    /// The command for DXC, in one of the same forms
    #[arg(long, value_name = "CMD", default_value = "dxc -HV 2018 -Ges -T {target} -E main {file}")]
    dxc: String,
    /// Use only this compiler
    #[arg(long, value_enum)]
    only: Option<Which>,
    /// The most seconds that FXC may take for a text
    #[arg(long, default_value_t = 2.0)]
    most_seconds: f64,
    /// Compile only this many texts, drawn at random
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// The seed of --sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only kernels whose name contains this
    #[arg(long, default_value = "")]
    name: String,
    /// Commands to run in parallel; times are reliable only if each has an idle processor
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// How many of the slowest texts to print
    #[arg(long, default_value_t = 10)]
    slowest: usize,
    /// Keep the HLSL in this folder
    #[arg(long)]
    keep: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Which {
    Fxc,
    Dxc,
}

/// A compiler and what it is given.
struct Lane {
    name: &'static str,
    command: String,
    target: &'static str,
    shader_model: ShaderModel,
    most_seconds: f64,
}

/// A text as a file.
struct File {
    kernel: String,
    path: PathBuf,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let own = std::env::temp_dir().join(format!("compilers-{}", std::process::id()));
    let folder = options.keep.clone().unwrap_or_else(|| own.clone());
    let outcome = run(&options, &folder);
    if options.keep.is_none() {
        let _ = std::fs::remove_dir_all(&own);
    }
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn run(options: &Options, folder: &Path) -> Result<ExitCode, String> {
    let texts = texts(options);
    if texts.is_empty() {
        return Err(format!("no kernel is named {:?}", options.name));
    }
    let mut failures = 0;
    for lane in lanes(options) {
        let files = write(&texts, folder, &lane)?;
        let shell = Shell::new(&lane.command, lane.target)?;
        let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
        let mut went = match shell.compile(&paths, options.jobs) {
            Ok(went) => went,
            Err(error) => {
                eprintln!("{error}. --{} CMD names it; --only leaves the other one out.", lane.name);
                return Ok(ExitCode::from(NO_COMPILER));
            }
        };
        measure_again(&shell, &paths, &mut went, lane.most_seconds)?;
        failures += report(&lane, &files, &went, options.slowest);
    }
    Ok(if failures > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn lanes(options: &Options) -> Vec<Lane> {
    let fxc = Lane {
        name: "fxc",
        command: options.fxc.clone(),
        target: "cs_5_1",
        shader_model: ShaderModel::V5_1,
        most_seconds: options.most_seconds,
    };
    let dxc = Lane {
        name: "dxc",
        command: options.dxc.clone(),
        target: "cs_6_0",
        shader_model: ShaderModel::V6_0,
        most_seconds: f64::INFINITY,
    };
    match options.only {
        None => vec![fxc, dxc],
        Some(Which::Fxc) => vec![fxc],
        Some(Which::Dxc) => vec![dxc],
    }
}

/// The texts to compile, with the names of their kernels.
fn texts(options: &Options) -> Vec<(String, String)> {
    let all = sweep::texts();
    let mut texts: Vec<(String, String)> = all.into_iter().filter(|(_, name)| name.contains(&options.name)).collect();
    if let Some(sample) = options.sample {
        fastrand::Rng::with_seed(options.seed).shuffle(&mut texts);
        texts.truncate(sample);
    }
    texts
}

fn write(texts: &[(String, String)], folder: &Path, lane: &Lane) -> Result<Vec<File>, String> {
    let folder = folder.join(lane.target);
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    let mut files = Vec::new();
    for (number, (text, kernel)) in texts.iter().enumerate() {
        let source = Source::parse(text).map_err(|error| format!("{kernel}: {error}"))?;
        let written = hlsl::write(&source.module, &source.info, lane.shader_model);
        let written = written.map_err(|error| format!("{kernel}: {error}"))?;
        let path = folder.join(format!("{number:05}.hlsl"));
        std::fs::write(&path, written).map_err(|error| failed(&path, error))?;
        files.push(File { kernel: kernel.clone(), path });
    }
    Ok(files)
}

/// Compiles each text that took too long again, alone; the least time counts.
fn measure_again(shell: &Shell, paths: &[PathBuf], went: &mut [Went], most_seconds: f64) -> Result<(), String> {
    for (path, went) in paths.iter().zip(went) {
        for _ in 0..AGAIN {
            if went.compiled && went.seconds > most_seconds {
                went.seconds = went.seconds.min(shell.seconds_alone(path)?);
            }
        }
    }
    Ok(())
}

/// Prints the failures, the slowest texts and the warnings, and gives the number of texts that fail.
fn report(lane: &Lane, files: &[File], went: &[Went], slowest: usize) -> usize {
    let mut failures = 0;
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for (file, went) in files.iter().zip(went) {
        let found = warnings(&went.messages);
        let uninitialised = found.iter().any(|code| is_of_uninitialised(code));
        let slow = went.seconds > lane.most_seconds;
        if !went.compiled || uninitialised || slow {
            failures += 1;
            let what = match (went.compiled, uninitialised) {
                (false, _) => "is refused".to_owned(),
                (true, true) => "reads what was not written".to_owned(),
                (true, false) => format!("takes {:.2} s, more than {}", went.seconds, lane.most_seconds),
            };
            println!("{} FAILS: {} {what} ({})", lane.name, file.kernel, file.path.display());
            if !went.compiled || uninitialised {
                went.messages.lines().take(8).for_each(|line| println!("    {line}"));
            }
        }
        for code in found {
            *codes.entry(code).or_default() += 1;
        }
    }
    let mut by_time: Vec<(&File, &Went)> = files.iter().zip(went).collect();
    by_time.sort_by(|(_, a), (_, b)| b.seconds.total_cmp(&a.seconds));
    println!("{}, the slowest of {} texts:", lane.name, files.len());
    for (file, went) in by_time.iter().take(slowest) {
        println!("  {:6.2} s  {}", went.seconds, file.kernel);
    }
    let total: f64 = went.iter().map(|went| went.seconds).sum();
    let codes: Vec<String> = codes.iter().map(|(code, count)| format!("{code} {count} times")).collect();
    let said = if codes.is_empty() { "none".to_owned() } else { codes.join(", ") };
    println!("{}: {failures} failures, {total:.1} s in all, warnings: {said}", lane.name);
    failures
}
