//! Examples from the outside: built once, run in a folder of their own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use support::place;
#[cfg(feature = "gpu")]
use support::splitmix::splitmix64;

/// A backend that this system cannot have, so that asking for it loads no driver.
pub const ABSENT_BACKEND: &str = if cfg!(windows) { "metal" } else { "dx12" };

/// Examples, each with what makes the files that it refuses.
pub type Files = &'static [(&'static Example, fn(&Path))];

/// An example's program.
pub struct Example {
    name: &'static str,
    program: OnceLock<PathBuf>,
}

impl Example {
    pub const fn new(name: &'static str) -> Self {
        Example { name, program: OnceLock::new() }
    }

    /// A folder of its own for each test, empty.
    pub fn scratch(&self, test: &str) -> PathBuf {
        let all = place::bundle().map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), |bundle| bundle.join("scratch"));
        let folder = all.join(self.name).join(test);
        if folder.exists() {
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A program that is not started yet.
    pub fn command(&self, folder: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
        let program = || match place::programs() {
            Some(programs) => programs.join(self.name),
            None => build(self.name),
        };
        let mut command = Command::new(self.program.get_or_init(program));
        command.args(arguments).current_dir(folder);
        // Drivers complain on stderr where this is missing.
        if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            command.env("XDG_RUNTIME_DIR", folder);
        }
        command
    }

    /// A run with a command line, which is split at spaces: `ROOT` is the folder of the repository, and `ABSENT` a
    /// backend that this system cannot have.
    pub fn run(&self, folder: &Path, variables: &[(&str, &str)], command_line: &str) -> Output {
        let words = command_line.split_whitespace().map(|word| match word.strip_prefix("ROOT/") {
            Some(rest) => place::root().join(rest).into_os_string(),
            None => word.replace("ABSENT", ABSENT_BACKEND).into(),
        });
        let mut command = self.command(folder, &words.collect::<Vec<_>>());
        command.envs(variables.iter().copied()).output().expect("the example runs")
    }

    /// What a successful run prints, in which all of `expected` occur. Drivers may print to stderr.
    pub fn says(&self, folder: &Path, command_line: &str, expected: &[&str]) -> String {
        let output = self.run(folder, &[], command_line);
        assert!(output.status.success(), "{command_line}: {}", String::from_utf8_lossy(&output.stderr));
        let report = String::from_utf8(output.stdout).unwrap();
        for text in expected {
            assert!(report.contains(text), "{command_line}: {text:?} is not in {report}");
        }
        report
    }

    /// A run that fails has to say so in one line, in which `expected` occurs, and in its exit code.
    pub fn fails(&self, folder: &Path, command_line: &str, expected: &str) {
        let output = self.run(folder, &[], command_line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{command_line}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{command_line}: {stderr}");
        assert!(stderr.starts_with(&format!("{}: ", self.name)), "{command_line}: {stderr}");
        assert!(stderr.contains(expected), "{command_line}: {expected:?} is not in {stderr}");
    }

    /// A run on a machine that seems to have no GPU says so in one line and succeeds.
    #[cfg(feature = "gpu")]
    pub fn computes_without_a_gpu(&self, command_line: &str, agreement: &str) {
        // With this variable no GPU is found.
        let output = self.run(&self.scratch("no_gpu"), &[("WGPU_BACKEND", ABSENT_BACKEND)], command_line);
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        assert!(output.status.success() && stderr.is_empty(), "{stdout}{stderr}");
        let host = if cfg!(feature = "cpu") { "  CPU, " } else { "  reference: " };
        let said = |line: &&str| line.contains(host) && line.contains(": no usable GPU adapter");
        assert!(stdout.lines().filter(said).count() == 1 && stdout.contains(agreement), "{stdout}");
    }

    /// Runs the command lines of `reports.txt`, in which the example says what stands below each.
    pub fn reports(&self, folder: &Path) {
        let runs = include_str!("reports.txt").split("\n$ ").skip(1).filter_map(|run| run.split_once('\n'));
        for (arguments, expected) in self.own(runs) {
            self.says(folder, arguments, &expected.lines().collect::<Vec<_>>());
        }
    }

    /// Runs the command lines of `refusals.txt`, each of which fails with what stands behind it.
    pub fn refuses(&self, folder: &Path) {
        let lines = include_str!("refusals.txt").lines().filter_map(|line| line.split_once(" => "));
        for (arguments, expected) in self.own(lines) {
            self.fails(folder, arguments, expected);
        }
    }

    /// Those of this example, without its name.
    fn own<'a>(&self, rows: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, &'a str)> {
        let own = rows.filter_map(|(command_line, expected)| Some((command_line.strip_prefix(self.name)?, expected)));
        let own: Vec<_> = own.collect();
        assert!(!own.is_empty(), "{} is not in the list", self.name);
        own
    }
}

/// A hash of the sizes and the pixels of pictures.
#[cfg(feature = "gpu")]
pub fn fingerprint(folder: &Path, pictures: &[&str]) -> String {
    let pictures = pictures.iter().map(|name| image::open(folder.join(name)).unwrap().into_rgb8());
    let numbers =
        pictures.flat_map(|it| [vec![it.width(), it.height()], it.iter().map(|&it| it.into()).collect()].concat());
    format!("{:016x}", numbers.fold(0, |hash, number| splitmix64(hash ^ u64::from(number))))
}

/// The rest of the line that begins like this.
#[cfg(feature = "gpu")]
pub fn line<'a>(report: &'a str, start: &str) -> &'a str {
    let found = report.lines().find_map(|line| line.strip_prefix(start));
    found.unwrap_or_else(|| panic!("no line begins with {start:?}: {report}"))
}

/// The names of all files below a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            names.extend(self::names(&entry.path()).iter().map(|below| format!("{name}/{below}")));
        }
        names.push(name);
    }
    names.sort();
    names
}

/// Cargo has no variable for the path of an example's executable, but tells it when it builds. Where this test has the
/// features of plain `cargo test`, the command names no package, as that does, so that nothing is compiled twice.
fn build(name: &str) -> PathBuf {
    let this = std::env::current_exe().expect("the test's own path");
    let profile = match this.ancestors().nth(2).and_then(Path::file_name).and_then(|name| name.to_str()) {
        // What `cargo test` builds with, so that nothing is compiled twice.
        None | Some("debug") => "test",
        Some(profile) => profile,
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder");
    // The features of the test, for the same reason.
    macro_rules! enabled {
        ($($feature:literal),+ $(,)?) => { [$(($feature, cfg!(feature = $feature))),+] };
    }
    let features = enabled!["cpu", "gpu", "onnx",];
    let features: Vec<&str> = features.iter().filter(|(_, enabled)| *enabled).map(|(name, _)| *name).collect();
    let features = features.join(",");
    let own: &[&str] = &["--package", "examples", "--no-default-features", "--features", &features];
    let selected: &[&str] = match name {
        // A package of its own. With an example beside it, cargo gives the library the features that it has for tests.
        "roofline" => &["--package", "roofline", "--bin", "roofline", "--example", "inspect"],
        _ => &["--example", name],
    };
    let as_by_default = cfg!(feature = "default") && !cfg!(feature = "cpu");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--message-format=json", "--profile", profile])
        .args(selected)
        .args(if as_by_default { &[] } else { own })
        .arg("--target-dir")
        .arg(target)
        .current_dir(place::root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "the example does not build: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)))
        .expect("cargo names the executable")
}
