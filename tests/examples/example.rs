//! Examples from the outside: built once, run in a folder of their own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use support::place;

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

    /// A run in a folder, with variables of the environment.
    pub fn run_with(&self, folder: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        self.command(folder, arguments).envs(variables.iter().copied()).output().expect("the example runs")
    }

    /// A run that is not started yet.
    pub fn command(&self, folder: &Path, arguments: &[&str]) -> Command {
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

    /// What a successful run prints. Drivers may print to stderr.
    pub fn run_well(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.run_with(folder, &[], arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// A run that fails has to say so in one line, in which `expected` occurs, and in its exit code.
    pub fn fails(&self, folder: &Path, arguments: &[&str], expected: &str) {
        let output = self.run_with(folder, &[], arguments);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments:?}: {stderr}");
        assert!(stderr.starts_with(&format!("{}: ", self.name)), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {expected:?} is not in {stderr}");
    }

    /// Help is no error and names the options. It is no error either if the reader goes away while help is printed, as
    /// `head` does.
    pub fn has_help(&self, arguments: &[&str], options: &[&str]) {
        let folder = self.scratch("help");
        let help = self.run_well(&folder, arguments);
        for option in options {
            assert!(help.contains(option), "{option} is not in {help}");
        }
        let mut command = self.command(&folder, arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the example runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the example ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
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
