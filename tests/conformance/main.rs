//! Conformance: recorded outputs of peers, cases made from the specification, ONNX node tests and examples of operator
//! pages, each by its own name on each path.
//!
//! `WGPU_POOLING_VECTORS` names directories, separated by ':', to run instead of those of this repository.
//! `WGPU_POOLING_SKIP_GPU=1` ignores the tests that need a GPU adapter.

mod checks;
#[cfg(feature = "onnx")]
mod onnx;
mod pages;
mod self_checks;
mod specialised;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use support::harness;
use support::place;
use support::vectors::case::Case;
use support::vectors::manifest;

use crate::checks::Subject;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let cases = match collect() {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("no conformance tests were run: {error}");
            return ExitCode::FAILURE;
        }
    };
    let count = cases.len();
    let mut trials = self_checks::trials();
    if named_directories().is_none() {
        trials.push(self_checks::own_cases_are_specialised(&cases));
    }
    for case in cases {
        trials.extend(trials_of(case));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        println!("{count} cases, {}, {}", cpu_summary(), gpu_summary());
    }
    conclusion.exit_code()
}

/// The tests of one case.
fn trials_of(case: Case) -> Vec<Trial> {
    let subject = Arc::new(Subject::new(case));
    vec![
        trial("reference", &subject, Subject::check_reference),
        #[cfg(feature = "cpu")]
        trial("cpu", &subject, |subject| subject.check("CPU")),
        #[cfg(feature = "gpu")]
        trial("gpu", &subject, |subject| subject.check("GPU")).with_ignored_flag(harness::skips_gpu()),
    ]
}

fn trial(path: &str, subject: &Arc<Subject>, check: fn(&Subject) -> Result<(), String>) -> Trial {
    let name = format!("{}::{path}", subject.case.name);
    let subject = Arc::clone(subject);
    // Threads of the runner are not joined.
    let joined = move || std::thread::scope(|scope| harness::join_all([scope.spawn(|| check(&subject))]).remove(0));
    Trial::test(name, move || joined().map_err(Failed::from))
}

fn named_directories() -> Option<OsString> {
    std::env::var_os("WGPU_POOLING_VECTORS")
}

/// The cases of the directories that the environment names, or of this repository.
fn collect() -> Result<Vec<Case>, String> {
    if let Some(named) = named_directories() {
        let mut cases = Vec::new();
        for directory in std::env::split_paths(&named) {
            // From the repository's root, where the command is, and not from the folder in which cargo runs this.
            cases.extend(read_directory(&place::root().join(directory))?);
        }
        return Ok(cases);
    }
    let tests = place::root().join("tests");
    let mut cases = read_directory(&tests.join("vectors"))?;
    #[cfg(feature = "onnx")]
    cases.extend(read_directory(&tests.join("onnx-node-tests"))?);
    cases.extend(pages::cases());
    Ok(cases)
}

/// The cases of a directory's manifests and node tests. Those that the directory's list names are marked as
/// specialised. A directory without cases is an error.
fn read_directory(directory: &Path) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    for manifest in manifest::manifests(directory)? {
        cases.extend(manifest::read(&manifest)?);
    }
    #[cfg(feature = "onnx")]
    for node_test in onnx::node_tests(directory)? {
        cases.push(onnx::read(&node_test)?);
    }
    if cases.is_empty() {
        return Err(format!("{} has no cases", directory.display()));
    }
    specialised::mark(directory, &mut cases)?;
    Ok(cases)
}

/// The levels of vector instructions at which the CPU backend was tested.
#[cfg(feature = "cpu")]
fn cpu_summary() -> String {
    let levels: Vec<&str> = wgpu_pooling::SimdLevel::available().iter().map(|level| level.name()).collect();
    format!("CPU backend at {}", levels.join(", "))
}

#[cfg(not(feature = "cpu"))]
fn cpu_summary() -> String {
    "no CPU backend, because the crate is built without the feature cpu".to_owned()
}

#[cfg(feature = "gpu")]
fn gpu_summary() -> String {
    if harness::skips_gpu() {
        return "WGPU_POOLING_SKIP_GPU=1: nothing was tested on a GPU".to_owned();
    }
    support::device::summary()
}

#[cfg(not(feature = "gpu"))]
fn gpu_summary() -> String {
    "no GPU tests, because the crate is built without the feature gpu".to_owned()
}
