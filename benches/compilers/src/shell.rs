//! A shader compiler as a command: how it is run for a list of files, and how its output is read.
//!
//! A command that contains `{file}` is a compiler's own command line: it is run once for each file, with `{target}` and
//! `{file}` replaced, and its exit status says whether the file compiled. Any other command is run for many files at
//! once as `COMMAND TARGET FILES...`, which is faster where starting takes long (under wine). It prints a line for each
//! file, with the compiler's messages below the line:
//!
//! ```text
//! OK     412 ms  FILE: whatever
//! FAILED  80 ms  FILE: whatever
//! ```
//!
//! `HLSLC_WARNINGS=1` in the environment asks commands of the second kind for warnings.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

use crate::part::{End, each};

/// The most files that a command gets at once.
const BATCH: usize = 32;

/// A shader compiler.
#[derive(Debug, Clone)]
pub struct Shell {
    words: Vec<String>,
    target: &'static str,
}

/// The outcome of compiling a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Went {
    pub compiled: bool,
    pub seconds: f64,
    pub messages: String,
}

impl Shell {
    /// A command, its words separated by spaces.
    pub fn new(command: &str, target: &'static str) -> Result<Shell, String> {
        let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() { Err("the command is empty".to_owned()) } else { Ok(Shell { words, target }) }
    }

    /// Compiles files by up to `jobs` commands in parallel. It is an error if the command cannot be run.
    pub fn compile(&self, files: &[PathBuf], jobs: usize) -> Result<Vec<Went>, String> {
        let size = if self.one_by_one() { 1 } else { BATCH.min(files.len().div_ceil(jobs.max(1)).max(1)) };
        let batches: Vec<&[PathBuf]> = files.chunks(size).collect();
        let went = each(&batches, jobs, End::NEVER, |batch| self.batch(batch));
        Ok(went.into_iter().collect::<Result<Vec<_>, String>>()?.concat())
    }

    /// Compiles a file alone and gives its seconds: the CPU time of the command, if the system reports it and it is the
    /// lesser, since on a busy machine the elapsed time is longer. The CPU time includes the command's start.
    pub fn seconds_alone(&self, file: &PathBuf) -> Result<f64, String> {
        let before = seconds_of_children();
        let went = self.batch(std::slice::from_ref(file))?;
        let used = before.zip(seconds_of_children()).map(|(before, after)| after - before);
        let said = went.first().map_or(f64::INFINITY, |went| went.seconds);
        Ok(used.map_or(said, |used| used.min(said)))
    }

    fn one_by_one(&self) -> bool {
        self.words.iter().any(|word| word.contains("{file}"))
    }

    fn batch(&self, files: &[PathBuf]) -> Result<Vec<Went>, String> {
        let begin = Instant::now();
        let output = self.run(files)?;
        let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).replace('\r', ""));
        if self.one_by_one() {
            let seconds = begin.elapsed().as_secs_f64();
            return Ok(vec![Went { compiled: output.status.success(), seconds, messages: said.concat() }]);
        }
        let alone = |(file, went): (&PathBuf, Option<Went>)| match went {
            Some(went) => Ok(went),
            // A command that ends early takes the other files with it; one that did not start at all has nothing to do
            // with them.
            None if files.len() > 1 => Ok(self.batch(std::slice::from_ref(file))?.remove(0)),
            None => {
                let messages = format!("the command said nothing of it: {}, {}", output.status, said[1]);
                Ok(Went { compiled: false, seconds: 0.0, messages })
            }
        };
        files.iter().zip(read(files, &said[0])).map(alone).collect()
    }

    fn run(&self, files: &[PathBuf]) -> Result<Output, String> {
        let mut command = Command::new(&self.words[0]);
        command.env("HLSLC_WARNINGS", "1");
        if self.one_by_one() {
            let file = files[0].to_string_lossy();
            command.args(self.words[1..].iter().map(|it| it.replace("{target}", self.target).replace("{file}", &file)));
        } else {
            command.args(&self.words[1..]).arg(self.target).args(files);
        }
        command.output().map_err(|error| format!("{} cannot be run: {error}", self.words[0]))
    }
}

/// The CPU seconds of all programs that this one started and that have ended, on Linux.
fn seconds_of_children() -> Option<f64> {
    children_in(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// cutime and cstime of /proc/self/stat, in hundredths of a second.
fn children_in(stat: &str) -> Option<f64> {
    // The program's name stands in brackets and may have spaces; the process's state follows.
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let ticks = |field: usize| fields.get(field)?.parse::<f64>().ok();
    Some((ticks(13)? + ticks(14)?) / 100.0)
}

/// Reads the outcome of each file from the output of a command for many files, if the command said anything of the
/// file.
fn read(files: &[PathBuf], output: &str) -> Vec<Option<Went>> {
    let mut found: HashMap<&Path, Went> = HashMap::new();
    let mut current: Option<&Path> = None;
    for line in output.lines() {
        if let Some((file, compiled, seconds)) = verdict(files, line) {
            found.insert(file, Went { compiled, seconds, messages: String::new() });
            current = Some(file);
        } else if let Some(went) = current.filter(|_| is_message(line)).and_then(|file| found.get_mut(file)) {
            went.messages.push_str(line);
            went.messages.push('\n');
        }
    }
    files.iter().map(|file| found.remove(file.as_path())).collect()
}

/// Whether a line is a message: neither empty nor the count at the end.
fn is_message(line: &str) -> bool {
    let count = line.starts_with(|it: char| it.is_ascii_digit()) && line.trim_end().ends_with("failed");
    !line.trim().is_empty() && !count
}

fn verdict<'a>(files: &'a [PathBuf], line: &str) -> Option<(&'a Path, bool, f64)> {
    let mut words = line.split_whitespace();
    let compiled = match words.next()? {
        "OK" => true,
        "FAILED" => false,
        _ => return None,
    };
    let milliseconds = words.next().and_then(|word| word.parse::<f64>().ok());
    let named = |file: &&PathBuf| line.contains(&format!("{}:", file.display()));
    Some((files.iter().find(named)?, compiled, milliseconds.unwrap_or(0.0) / 1e3))
}

/// The codes of the warnings among a compiler's messages: FXC's numbers, DXC's names.
pub fn warnings(messages: &str) -> Vec<String> {
    // A note below a warning may repeat the code, so only the lines of warnings are read.
    let lines = messages.lines().filter(|line| line.contains("warning:") || line.contains("warning X"));
    let code = |line: &str| {
        let word = line.split([' ', ':', '[', ']']).find(|word| {
            word.starts_with("-W")
                || (word.len() == 5 && word.starts_with('X') && word[1..].bytes().all(|byte| byte.is_ascii_digit()))
        });
        word.unwrap_or("without a code").to_owned()
    };
    lines.map(code).collect()
}

/// Whether a warning is about a variable that is read before it is written: X4000 and its neighbours, or
/// -Wuninitialized.
pub fn is_of_uninitialised(code: &str) -> bool {
    code.starts_with("X400") || code.contains("uninitialized")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batchs_output_is_read_file_by_file() {
        let files = ["/tmp/a.hlsl", "/tmp/b.hlsl", "/tmp/c.hlsl"].map(PathBuf::from);
        let output = "OK          412 ms  /tmp/a.hlsl: 2140 bytes
/tmp/a.hlsl(3,5): warning X4000: use of potentially uninitialized variable (f)
FAILED       80 ms  /tmp/b.hlsl: 80004005
/tmp/b.hlsl(1,1): error X3000: syntax error
2 of 3 failed
";
        let [Some(first), Some(second), None] = &read(&files, output)[..] else {
            panic!("of the last one nothing is said")
        };
        assert_eq!((first.compiled, second.compiled, first.seconds), (true, false, 0.412));
        assert!(second.messages.contains("X3000") && !first.messages.contains("X3000"));
    }

    #[test]
    fn files_of_which_nothing_was_said_are_compiled_alone() {
        // As a compiler that falls over the second file: what it gets is a target and files.
        let script = "for file; do case $file in cs*) ;; *b.hlsl) echo fell >&2; exit 9 ;; *) echo OK 1 ms $file: 0 ;; esac; done";
        let folder = std::env::temp_dir().join(format!("shell-{}", std::process::id()));
        std::fs::write(&folder, script).unwrap();
        let files = ["a.hlsl", "b.hlsl", "c.hlsl"].map(PathBuf::from);
        let went = Shell::new(&format!("sh {}", folder.display()), "cs_6_0").unwrap().compile(&files, 1).unwrap();
        std::fs::remove_file(&folder).unwrap();
        assert_eq!(went.iter().map(|it| it.compiled).collect::<Vec<_>>(), [true, false, true]);
        assert!(went[1].messages.contains("fell") && went[1].messages.contains('9'), "{}", went[1].messages);
    }

    #[test]
    fn warnings_of_uninitialised_variables_are_told() {
        let said = "a(3,5): warning X4000: use of potentially uninitialized variable (f)
a(4,9): warning X3557: loop only executes for 1 iteration(s)
a:3:5: warning: variable 'f' is uninitialized when used here [-Wuninitialized]
a:3:5: note: initialize the variable 'f' to silence this warning";
        let codes = warnings(said);
        assert_eq!(codes, ["X4000", "X3557", "-Wuninitialized"]);
        let told: Vec<_> = codes.iter().map(|code| is_of_uninitialised(code)).collect();
        assert_eq!(told, [true, false, true]);
    }

    #[test]
    fn a_command_line_of_its_own_is_run_once_for_each_file() {
        let shell = Shell::new("echo -T {target} {file}", "cs_5_1").unwrap();
        let went = shell.compile(&[PathBuf::from("a.hlsl"), PathBuf::from("b.hlsl")], 2).unwrap();
        let said: Vec<_> = went.iter().map(|it| it.messages.trim()).collect();
        assert_eq!(said, ["-T cs_5_1 a.hlsl", "-T cs_5_1 b.hlsl"]);
        assert!(Shell::new(" ", "cs_5_1").is_err());
    }

    #[test]
    fn the_time_of_programs_that_ended_is_read() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 101 202 0 0 3 4 150 25 20 0 1 0 99 1000 200";
        assert_eq!(children_in(stat), Some(1.75));
        assert_eq!(children_in(""), None);
    }

    #[test]
    fn a_command_that_is_not_there_is_an_error() {
        let shell = Shell::new("no-such-compiler-anywhere", "cs_6_0").unwrap();
        assert!(shell.compile(&[PathBuf::from("a.hlsl")], 1).unwrap_err().contains("cannot be run"));
    }
}
