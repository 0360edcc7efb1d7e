//! Writes every kernel in the languages in which drivers take it, as wgpu has naga write them, and has each text
//! checked.
//!
//! The texts are those of benches/compilers/src/translations/sweep.rs. A text fails if a search finds what a compiler
//! refuses in it (faults.rs beside it), or if a command that `--check` names refuses it or warns of anything.
//!
//! ```sh
//! # Every kernel as SPIR-V 1.5, by the validator of Khronos:
//! cargo run --release -p compilers --bin texts -- --languages spirv-1.5 \
//!     --check "spirv-val --target-env vulkan1.2 {file}"
//! # A hundred kernels in all languages, kept in a folder with manifest.json, which lists them:
//! cargo run --release -p compilers --bin texts -- --sample 100 --folder texts
//! ```
//!
//! Exit codes: 1 where a text fails, 3 where a command cannot be run.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use compilers::kernels::Wanted;
use compilers::language::Language;
use compilers::part::{Part, each, processors};
use compilers::source::Source;
use serde_json::{Value, json};

/// The exit code if a command cannot be run.
const NO_COMMAND: u8 = 3;
/// How many kernels are written before the time is looked at.
const AT_ONCE: usize = 16;
/// How many failures are printed.
const PRINTED: usize = 20;

/// Writes every kernel in the languages of drivers, and checks the texts
#[derive(Parser)]
struct Options {
    /// The languages [default: all]
    #[arg(long, value_delimiter = ',', value_parser = Language::named)]
    languages: Vec<Language>,
    /// A command that checks a text, with `{file}` for the file, or some texts at once, with `{files}`
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
#[derive(Clone)]
struct Outcome {
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
    let check = options.check.as_deref().map(Check::new);
    let all = options.wanted.texts()?;
    let end = options.part.end();
    let number = all.len();
    let texts = options.part.of(all, |(_, name)| name.clone());

    let some: Vec<(usize, &[(String, String)])> = (0..).step_by(AT_ONCE).zip(texts.chunks(AT_ONCE)).collect();
    let outcomes = each(&some, options.jobs.unwrap_or_else(processors), end, |&(first, texts)| {
        let each = (first..).zip(texts);
        let each = each.map(|(at, (text, kernel))| write(options, &languages, folder, (at, text, kernel)));
        let mut some = each.collect::<Result<Vec<Outcome>, String>>()?;
        if let Some(check) = &check {
            check.all(&mut some)?;
        }
        if options.folder.is_none() {
            some.iter().flat_map(|outcome| &outcome.files).for_each(|(_, path)| {
                let _ = std::fs::remove_file(path);
            });
        }
        Ok(some)
    });
    let outcomes = outcomes.into_iter().collect::<Result<Vec<_>, String>>()?.concat();
    if options.folder.is_some() {
        manifest(folder, &outcomes)?;
    }
    Ok(conclude(&outcomes, number, &languages))
}

/// The command that checks texts.
struct Check {
    words: Vec<String>,
}

impl Check {
    fn new(command: &str) -> Check {
        Check { words: command.split_whitespace().map(str::to_owned).collect() }
    }

    /// Checks all files of some kernels, together if the command can do so. If it then says anything, each is checked
    /// by itself.
    fn all(&self, kernels: &mut [Outcome]) -> Result<(), String> {
        if self.words.iter().any(|word| word == "{files}") {
            let files: Vec<&PathBuf> = kernels.iter().flat_map(|it| it.files.iter().map(|(_, path)| path)).collect();
            if self.complaint(&files)?.is_none() {
                return Ok(());
            }
        }
        for kernel in kernels {
            for (language, path) in &kernel.files {
                if let Some(complaint) = self.complaint(&[path])? {
                    kernel.faults.push(format!("{}: {complaint}", language.name()));
                }
            }
        }
        Ok(())
    }

    /// What the command says against files. What checkers print of files with which nothing is wrong is their names.
    fn complaint(&self, files: &[&PathBuf]) -> Result<Option<String>, String> {
        let names = files.iter().map(|path| path.to_string_lossy().into_owned());
        let names: Vec<String> = names.collect();
        let words = self.words.iter().flat_map(|word| match word.as_str() {
            "{file}" | "{files}" => names.clone(),
            _ => vec![word.clone()],
        });
        let words: Vec<String> = words.collect();
        let (program, arguments) = words.split_first().ok_or("the command is empty")?;
        let output = Command::new(program).args(arguments).output();
        let output = output.map_err(|error| format!("{program} cannot be run: {error}"))?;
        let mut said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        for name in names {
            said = said.replace(&name, "");
        }
        let said = said.trim();
        let refused = !output.status.success();
        Ok((refused || !said.is_empty())
            .then(|| if said.is_empty() { "it is refused".to_owned() } else { said.to_owned() }))
    }
}

/// Writes a kernel in every language.
fn write(
    options: &Options,
    languages: &[Language],
    folder: &Path,
    (at, text, kernel): (usize, &str, &str),
) -> Result<Outcome, String> {
    let mut outcome = Outcome { kernel: kernel.to_owned(), files: Vec::new(), faults: Vec::new() };
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
        outcome.files.push((language, path));
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
