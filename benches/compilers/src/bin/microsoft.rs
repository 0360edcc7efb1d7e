//! Compiles every kernel with Microsoft's compilers, which compile wgpu's pipelines on Windows: with FXC for shader
//! model 5.1, which a machine without dxcompiler.dll uses, and with DXC for 6.0.
//!
//! The texts are those of translations/sweep.rs, written as HLSL by naga as wgpu's DX12 backend does. The command fails
//! if a text is refused, takes FXC more than `--most-seconds`, or has a warning about a variable that is read
//! uninitialised. It prints the slowest files and the codes of all warnings. The whole sweep takes long; `--sample`
//! takes a random part, `--seconds` as much as there is time for.
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
use compilers::kernels::Wanted;
use compilers::language::{Language, Model};
use compilers::part::Part;
use compilers::shell::{Shell, Went, is_of_uninitialised, warnings};
use compilers::source::Source;

/// The exit code if a compiler cannot be run.
const NO_COMPILER: u8 = 3;
/// How many texts each command gets before the time is looked at.
const AT_ONCE: usize = 8;
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
    #[command(flatten)]
    part: Part,
    /// Spoil every text before it is compiled: all of them have to fail
    #[arg(long)]
    spoil: bool,
    #[command(flatten)]
    wanted: Wanted,
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
    model: Model,
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
    let all = options.wanted.texts()?;
    let number = all.len();
    let texts = options.part.of(all, |(_, name)| name.clone());
    let mut failures = 0;
    for lane in lanes(options) {
        let (end, shell) = (options.part.end(), Shell::new(&lane.command, lane.target)?);
        let (mut files, mut went) = (Vec::new(), Vec::new());
        for some in texts.chunks(AT_ONCE * options.jobs.max(1)) {
            if end.is_past() {
                break;
            }
            let written = write(some, files.len(), folder, &lane, options.spoil)?;
            let paths: Vec<PathBuf> = written.iter().map(|file| file.path.clone()).collect();
            match shell.compile(&paths, options.jobs) {
                Ok(mut some) => {
                    measure_again(&shell, &paths, &mut some, lane.most_seconds)?;
                    went.append(&mut some);
                }
                Err(error) => {
                    eprintln!("{error}. --{} CMD names it; --only leaves the other one out.", lane.name);
                    return Ok(ExitCode::from(NO_COMPILER));
                }
            }
            files.extend(written);
        }
        let failed = report(&lane, &files, &went, options.slowest);
        println!("ran {} of {} texts as {}, {failed} failed", files.len(), number, lane.target);
        failures += if files.is_empty() { 1 } else { failed };
    }
    Ok(if failures > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn lanes(options: &Options) -> Vec<Lane> {
    let fxc = Lane {
        name: "fxc",
        command: options.fxc.clone(),
        target: "cs_5_1",
        model: Model::V5_1,
        most_seconds: options.most_seconds,
    };
    let dxc = Lane {
        name: "dxc",
        command: options.dxc.clone(),
        target: "cs_6_0",
        model: Model::V6_0,
        most_seconds: f64::INFINITY,
    };
    match options.only {
        None => vec![fxc, dxc],
        Some(Which::Fxc) => vec![fxc],
        Some(Which::Dxc) => vec![dxc],
    }
}

/// Writes texts as files, whose numbers begin with `first`.
fn write(
    texts: &[(String, String)],
    first: usize,
    folder: &Path,
    lane: &Lane,
    spoil: bool,
) -> Result<Vec<File>, String> {
    let folder = folder.join(lane.target);
    let failed = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, error))?;
    let mut files = Vec::new();
    for (number, (text, kernel)) in (first..).zip(texts) {
        let source = Source::parse(text).map_err(|error| format!("{kernel}: {error}"))?;
        let language = Language::Hlsl(lane.model);
        let mut written = language.write(text, Some(&source)).map_err(|error| format!("{kernel}: {error}"))?;
        if spoil {
            language.spoil(&mut written);
        }
        let path = folder.join(format!("{number:05}.hlsl"));
        std::fs::write(&path, written.bytes).map_err(|error| failed(&path, error))?;
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
