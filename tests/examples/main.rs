//! The examples from the outside, each built once and run as a program. What they compute they compare with the
//! reference themselves; here are their exit codes, what they print and refuse (`reports.txt`, `refusals.txt`), and
//! their files.

mod example;
mod inspect;
#[cfg(feature = "onnx")]
mod models;
#[cfg(feature = "gpu")]
mod on_a_gpu;
#[cfg(feature = "gpu")]
mod pictures;
#[cfg(all(feature = "cpu", feature = "gpu"))]
mod roofline;
#[cfg(feature = "gpu")]
mod stream;

use std::process::Stdio;

use example::{Files, names};

/// The examples of each module.
const EXAMPLES: &[Files] = &[
    inspect::EXAMPLES,
    #[cfg(feature = "onnx")]
    models::EXAMPLES,
    #[cfg(feature = "gpu")]
    on_a_gpu::EXAMPLES,
    #[cfg(feature = "gpu")]
    pictures::EXAMPLES,
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    roofline::EXAMPLES,
    #[cfg(feature = "gpu")]
    stream::EXAMPLES,
];

#[test]
fn what_is_wrong_is_said_in_one_line() {
    for (example, make_files) in EXAMPLES.iter().copied().flatten() {
        let folder = example.scratch("wrong");
        make_files(&folder);
        let before = names(&folder);
        example.refuses(&folder);
        assert_eq!(names(&folder), before, "an unfinished file, or a folder for nothing, is left behind");
    }
}

/// Help is no error. It is no error either if the reader goes away while it is printed, as `head` does.
#[test]
fn help_is_printed() {
    for (example, _) in EXAMPLES.iter().copied().flatten() {
        let folder = example.scratch("help");
        example.says(&folder, "--help", &["Usage: ", "Options:"]);
        let mut command = example.command(&folder, &["--help"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the example runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the example ends");
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
