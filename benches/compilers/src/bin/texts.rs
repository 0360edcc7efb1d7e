//! Writes every kernel in the languages in which drivers take it, as wgpu has naga write them, and has each text checked.
//!
//! The texts are those of tests/plans/translations/sweep.rs. A text fails if a search finds what a compiler refuses in it
//! (src/faults.rs of that folder), or if a command that `--check` names refuses it or warns of anything.
//!
//! ```sh
//! # Every kernel as SPIR-V 1.5, by the validator of Khronos:
//! cargo run --release -p compilers --bin texts -- --languages spirv-1.5 --check "spirv-val --target-env vulkan1.2 {file}"
//! # A hundred kernels in all languages, kept in a folder with manifest.json, which lists them:
//! cargo run --release -p compilers --bin texts -- --sample 100 --folder texts
//! ```
//!
//! Exit codes: 1 where a text fails, 3 where a command cannot be run.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser;
use compilers::kernels::Wanted;
use compilers::language::Language;
use compilers::part::Part;
use compilers::shell::Shell;
use compilers::spirv::Source;
use serde_json::{Value, json};

/// The exit code if a command cannot be run.
const NO_COMMAND: u8 = 3;
/// How many failures are printed.
const PRINTED: usize = 20;

/// Writes every kernel in the languages of drivers, and checks the texts
#[derive(Parser)]
struct Options {
    /// The languages [default: all]
    #[arg(long, value_delimiter = ',', value_parser = Language::named)]
    languages: Vec<Language>,
    /// A command that checks a text; `{file}` stands for the file
    #[arg(long, value_name = "CMD")]
    check: Option<String>,
    /// Keep the texts in this folder, with a manifest.json
    #[arg(long)]
    folder: Option<PathBuf>,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    wanted: Wanted,
    /// Threads [default: one for each processor]
    #[arg(long)]
    jobs: Option<usize>,
    /// Spoil every text before it is checked: all of them have to fail
    #[arg(long)]
    spoil: bool,
}

/// What became of a kernel.
struct Outcome {
    number: usize,
    kernel: String,
    /// The file of each language.
    files: Vec<(Language, PathBuf)>,
    faults: Vec<String>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let own = std::env::temp_dir().join(format!("texts-{}", std::process::id()));
    let folder = options.folder.clone().unwrap_or_else(|| own.clone());
    let outcome = run(&options, &folder);
    if options.folder.is_none() {
        let _ = std::fs::remove_dir_all(&own);
    }
    outcome.unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::from(NO_COMMAND)
    })
}

fn run(options: &Options, folder: &Path) -> Result<ExitCode, String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let languages = if options.languages.is_empty() { Language::all() } else { options.languages.clone() };
    let shell = options.check.as_deref().map(|command| Shell::new(command, "")).transpose()?;
    let all = options.wanted.texts()?;
    let end = options.part.end();
    let number = all.len();
    let texts = options.part.of(all, |(_, name)| name.clone());

    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<(), String> {
        while !end.is_past() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((text, kernel)) = texts.get(at) else { break };
            let outcome = one(options, &languages, shell.as_ref(), folder, (at, text, kernel))?;
            outcomes.lock().map_err(|_| "a thread ended")?.push(outcome);
        }
        Ok(())
    };
    let jobs = options.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Result<(), String>>| {
            thread.join().unwrap_or_else(|_| Err("a thread of this program ended".to_owned()))
        };
        threads.into_iter().map(join).collect::<Result<Vec<()>, String>>()
    })?;
    let mut outcomes: Vec<Outcome> = outcomes.into_inner().map_err(|_| "a thread ended")?;
    outcomes.sort_by_key(|outcome| outcome.number);
    if options.folder.is_some() {
        manifest(folder, &outcomes)?;
    }
    Ok(conclude(&outcomes, number, &languages))
}

/// Writes a kernel in every language and checks it.
fn one(
    options: &Options,
    languages: &[Language],
    shell: Option<&Shell>,
    folder: &Path,
    (at, text, kernel): (usize, &str, &str),
) -> Result<Outcome, String> {
    let mut outcome = Outcome { number: at, kernel: kernel.to_owned(), files: Vec::new(), faults: Vec::new() };
    let mut source = None;
    for &language in languages {
        // Nothing is parsed for a text that is only copied.
        let source = match (&source, language) {
            (None, Language::Wgsl) => None,
            (None, _) => {
                source = Some(Source::parse(text).map_err(|error| format!("{kernel}: {error}"))?);
                source.as_ref()
            }
            (Some(source), _) => Some(source),
        };
        let mut written = language.write(text, source).map_err(|error| format!("{kernel}: {error}"))?;
        if options.spoil {
            language.spoil(&mut written);
        }
        outcome.faults.append(&mut written.faults);
        let path = folder.join(format!("{at:05}.{}.{}", language.name(), language.extension()));
        std::fs::write(&path, &written.bytes).map_err(|error| format!("{}: {error}", path.display()))?;
        if let Some(shell) = shell {
            let went = shell.compile(std::slice::from_ref(&path), 1)?.remove(0);
            // What the checkers print of a text with which nothing is wrong is its name.
            let said = went.messages.replace(&*path.to_string_lossy(), "");
            if !went.compiled || !said.trim().is_empty() {
                outcome.faults.push(format!("{}: {}", language.name(), said.trim()));
            }
        }
        if options.folder.is_some() {
            outcome.files.push((language, path));
        } else {
            let _ = std::fs::remove_file(&path);
        }
    }
    Ok(outcome)
}

/// The list of the texts, for programs that read them.
fn manifest(folder: &Path, outcomes: &[Outcome]) -> Result<(), String> {
    let files = |outcome: &Outcome| -> Value {
        let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        outcome.files.iter().map(|(language, path)| (language.name(), json!(name(path)))).collect()
    };
    let list: Vec<Value> =
        outcomes.iter().map(|outcome| json!({ "kernel": outcome.kernel, "files": files(outcome) })).collect();
    let path = folder.join("manifest.json");
    let text = serde_json::to_string_pretty(&list).map_err(|error| error.to_string())?;
    std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn conclude(outcomes: &[Outcome], number: usize, languages: &[Language]) -> ExitCode {
    let failed: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.faults.is_empty()).collect();
    for outcome in failed.iter().take(PRINTED) {
        println!("FAILS: {}", outcome.kernel);
        outcome.faults.iter().flat_map(|fault| fault.lines()).take(8).for_each(|line| println!("    {line}"));
    }
    let names: Vec<String> = languages.iter().map(|language| language.name()).collect();
    let (ran, failures) = (outcomes.len(), failed.len());
    println!("ran {ran} of {number} texts in {}, {failures} failed", names.join(", "));
    if failures > 0 || ran == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
