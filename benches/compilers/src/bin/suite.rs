//! Runs the crate's tests on whatever adapter the environment chooses, as many as there is time for.
//!
//! The tests are run in a random order, some at a time, so that a program that hangs or falls costs a few of them and
//! not all. Each program is named with what its tests' names have to contain, if not all are meant.
//!
//! ```sh
//! WGPU_BACKEND=gl cargo run --release -p compilers --bin suite -- --seconds 300 conformance guest:threads::,loss::
//! ```
//!
//! Exit codes: 1 where a test fails, or none was run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use compilers::part::{End, Part};

/// Runs tests on an adapter, as many as there is time for
#[derive(Parser)]
struct Options {
    /// Test programs, each with the parts of names that its tests have to have: PROGRAM or PROGRAM:PART,PART
    #[arg(required = true, value_parser = program)]
    programs: Vec<Program>,
    /// How many tests are run before the time is looked at. One at a time needs no long command line, which Windows
    /// does not take
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    at_once: u16,
    /// The most seconds that a program may take for the tests that it gets at once
    #[arg(long, default_value_t = 300)]
    patience: u64,
    /// The command that builds and runs a test program; it gets --lib, or --test and a name, and the rest
    #[arg(long, default_value = "cargo test --quiet -p wgpu-pooling -p test-cases -p full-tests --all-features")]
    cargo: String,
    /// Test threads [default: as many as the harness takes]
    #[arg(long)]
    threads: Option<usize>,
    #[command(flatten)]
    part: Part,
}

/// A test program of the crate, or `lib` for the tests of the sources of packages.
#[derive(Debug, Clone)]
struct Program {
    name: String,
    parts: Vec<String>,
}

fn program(words: &str) -> Result<Program, String> {
    let (name, parts) = words.split_once(':').unwrap_or((words, ""));
    Ok(Program { name: name.to_owned(), parts: parts.split(',').map(str::to_owned).collect() })
}

/// A test of one of the programs.
#[derive(Debug, Clone)]
struct Test {
    program: usize,
    name: String,
}

#[derive(Debug, Clone, PartialEq)]
enum Went {
    Passed,
    Failed(String),
    LeftOut,
}

fn main() -> ExitCode {
    run(&Options::parse()).unwrap_or_else(|error| {
        eprintln!("{error}");
        ExitCode::FAILURE
    })
}

fn run(options: &Options) -> Result<ExitCode, String> {
    let mut tests = Vec::new();
    let mut listed = Vec::new();
    for (number, program) in options.programs.iter().enumerate() {
        let names = list(options, program)?;
        let wanted = names.iter().filter(|name| program.parts.iter().any(|part| name.contains(part.as_str())));
        tests.extend(wanted.map(|name| Test { program: number, name: name.clone() }));
        listed.push(names);
    }
    let end = options.part.end();
    let all = tests.len();
    let tests = options.part.of(tests, |test| group(&test.name));
    let mut failed = 0;
    let mut ran = vec![0; options.programs.len()];
    for some in tests.chunks(options.at_once.into()) {
        if end.is_past() {
            break;
        }
        for (number, program) in options.programs.iter().enumerate() {
            let of_program = some.iter().filter(|test| test.program == number);
            let names: Vec<&str> = of_program.map(|test| test.name.as_str()).collect();
            if names.is_empty() {
                continue;
            }
            let begin = Instant::now();
            let found = execute(options, program, &listed[number], &names, end)?;
            println!("{}: {} tests in {:.0} s", program.name, found.len(), begin.elapsed().as_secs_f64());
            for (name, went) in found {
                ran[number] += usize::from(went != Went::LeftOut);
                if let Went::Failed(said) = went {
                    failed += 1;
                    println!("FAILS: {name}");
                    // A line may be a whole command.
                    let lines = said.lines().take(12).map(|line| line.chars().take(300).collect::<String>());
                    lines.for_each(|line| println!("    {line}"));
                }
            }
        }
    }
    let each = options.programs.iter().zip(&ran).map(|(program, ran)| format!("{} {ran}", program.name));
    let (each, ran): (Vec<String>, usize) = (each.collect(), ran.iter().sum());
    println!("ran {ran} of {all} tests ({}), {failed} failed", each.join(", "));
    Ok(if failed > 0 || ran == 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// What names of tests have in common: a module, or a batch of recorded cases on one path.
fn group(name: &str) -> String {
    let batch: String = name.chars().filter(|it| !it.is_ascii_digit()).collect();
    batch.split("::").take(if name.starts_with("vectors::") { 2 } else { 1 }).collect::<Vec<_>>().join("::")
}

fn cargo(options: &Options, program: &Program) -> Command {
    let mut words = options.cargo.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cargo"));
    match program.name.as_str() {
        "lib" => command.args(words).args(["--lib", "--"]),
        name => command.args(words).args(["--test", name, "--"]),
    };
    command
}

/// The names of a program's tests.
fn list(options: &Options, program: &Program) -> Result<Vec<String>, String> {
    let output =
        cargo(options, program).arg("--list").output().map_err(|error| format!("cargo cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names: Vec<String> = text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect();
    if names.is_empty() {
        return Err(format!("{} lists no tests: {}", program.name, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(names)
}

/// Runs some of a program's tests, and tells how each went.
fn execute(
    options: &Options,
    program: &Program,
    listed: &[String],
    names: &[&str],
    end: End,
) -> Result<Vec<(String, Went)>, String> {
    let mut command = cargo(options, program);
    command.args(["--exact", "--format", "pretty", "--color", "never"]);
    if let Some(threads) = options.threads {
        command.args(["--test-threads", &threads.to_string()]);
    }
    // The harness takes one name to run, but any number of names to leave out.
    if let [name] = names {
        command.arg(name);
    } else {
        for other in listed.iter().filter(|it| !names.contains(&it.as_str())) {
            command.args(["--skip", other]);
        }
    }
    let folder = std::env::temp_dir();
    let paths = ["out", "err"].map(|it| folder.join(format!("suite-{}.{it}", std::process::id())));
    let create = |path: &PathBuf| std::fs::File::create(path).map_err(|error| format!("{}: {error}", path.display()));
    command.stdin(Stdio::null()).stdout(create(&paths[0])?).stderr(create(&paths[1])?);
    let mut child = command.spawn().map_err(|error| format!("cargo cannot be run: {error}"))?;
    let mut in_time = true;
    let latest = Instant::now() + Duration::from_secs(options.patience);
    let ended = loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) => break status.to_string(),
            // Nobody waits for more; what the harness has printed counts.
            None if end.is_past() => {
                stop(&mut child);
                in_time = false;
                break String::new();
            }
            None if Instant::now() > latest => {
                stop(&mut child);
                break format!("it was stopped after {} seconds", options.patience);
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    };
    let said = paths.each_ref().map(|path| std::fs::read_to_string(path).unwrap_or_default());
    for path in &paths {
        let _ = std::fs::remove_file(path);
    }
    let errors: Vec<&str> = said[1].lines().collect();
    let last = errors[errors.len().saturating_sub(6)..].join("\n");
    let done = verdicts(&said[0]);
    let names: Vec<&str> = names.iter().copied().filter(|name| in_time || done.contains_key(name)).collect();
    Ok(read(&names, &said[0], &format!("the program did not say how it went ({ended})\n{last}")))
}

/// Ends cargo and the program that it runs.
fn stop(child: &mut std::process::Child) {
    let _ = Command::new("pkill").args(["-KILL", "-P", &child.id().to_string()]).status();
    let _ = child.kill();
    let _ = child.wait();
}

/// How each test went, by what the harness printed.
fn read(names: &[&str], output: &str, silent: &str) -> Vec<(String, Went)> {
    let verdicts = verdicts(output);
    let went = |name: &str| match verdicts.get(name) {
        Some(&"ok") => Went::Passed,
        Some(&"ignored") => Went::LeftOut,
        Some(_) => Went::Failed(reason(output, name)),
        None => Went::Failed(silent.to_owned()),
    };
    names.iter().map(|&name| (name.to_owned(), went(name))).collect()
}

/// How tests went by the harness's word: `ok`, `FAILED` or `ignored`. With one thread it prints a test's name, then
/// whatever the test prints, then how it went. A test that was stopped has no verdict.
fn verdicts(output: &str) -> BTreeMap<&str, &str> {
    let (mut found, mut current) = (BTreeMap::new(), None);
    for line in output.lines() {
        let named = line.strip_prefix("test ").and_then(|it| it.split_once(" ... "));
        let (name, how) = named.map_or((current, line), |(name, how)| (Some(name.trim()), how));
        current = name;
        // A reason may follow.
        let how = how.split(',').next().unwrap_or_default().trim();
        if let (Some(name), "ok" | "FAILED" | "ignored") = (name, how) {
            found.insert(name, how);
            current = None;
        }
    }
    found
}

/// What stands below a test's headline among the failures, in the words of the standard library's harness or of
/// libtest-mimic.
fn reason(output: &str, name: &str) -> String {
    let headlines = [format!("---- {name} stdout ----"), format!("---- {name} ----")];
    let lines = output.lines().skip_while(|line| !headlines.iter().any(|headline| line == headline)).skip(1);
    lines.take_while(|line| !line.starts_with("---- ") && *line != "failures:").collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_tests_went_is_read() {
        let output = "running 3 tests
test a::one   ... ok
test a::two   ... FAILED
test a::three ... ignored, there is no GPU
test a::five  ... FAILED

failures:

---- a::five stdout ----
it falls

---- a::two ----
it differs
at 7

failures:
    a::two
";
        let went = read(&["a::one", "a::two", "a::three", "a::four", "a::five"], output, "it fell");
        let failed = |reason: &str| Went::Failed(reason.into());
        let expected =
            [Went::Passed, failed("it differs\nat 7\n"), Went::LeftOut, failed("it fell"), failed("it falls\n")];
        assert_eq!(went.into_iter().map(|(_, went)| went).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_test_that_was_still_running_has_no_verdict() {
        let found = verdicts("test a::one   ... ok\ntest a::two ... 7 calls\nok\ntest a::three ... 8 calls\n");
        assert_eq!(found, BTreeMap::from([("a::one", "ok"), ("a::two", "ok")]));
    }

    #[test]
    fn recorded_cases_of_a_batch_are_a_group() {
        assert_eq!(group("vectors::ort_maxpool-0003::gpu"), group("vectors::ort_maxpool-0125::cpu"));
        assert_ne!(group("vectors::ort_maxpool-0003::gpu"), group("vectors::ort_unpool-0003::gpu"));
        assert_eq!(group("random::pools"), group("random::unpools"));
    }
}
