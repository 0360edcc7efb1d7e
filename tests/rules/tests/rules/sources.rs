//! The source files that rules are about.

use std::path::{Path, PathBuf};

/// The crates of the library: the folder of each, none before one that it depends on.
pub const CRATES: [&str; 4] = ["", "crates/cpu", "crates/onnx", "crates/plan"];

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of a file of the repository.
pub fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder and of those in it, but for what is built there: paths from the repository's root, and texts.
pub fn sources(under: impl AsRef<Path>, ending: &str) -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, ending: &str, found: &mut Vec<(PathBuf, String)>) {
        let full = root().join(folder);
        let entries = std::fs::read_dir(&full).unwrap_or_else(|error| panic!("{}: {error}", full.display()));
        for entry in entries {
            let entry = entry.expect("a readable folder");
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                if entry.file_name() != "target" {
                    collect(&path, ending, found);
                }
            } else if path.to_string_lossy().ends_with(ending) {
                let text = read(&path);
                found.push((path, text));
            }
        }
    }
    let (under, mut found) = (under.as_ref(), Vec::new());
    collect(under, ending, &mut found);
    assert!(!found.is_empty(), "no {ending} under {}", under.display());
    found
}

/// The sources of one crate of the library without the files that hold nothing but tests.
pub fn sources_of(folder: &str) -> Vec<(PathBuf, String)> {
    let sources = sources(Path::new(folder).join("src"), ".rs");
    sources.into_iter().filter(|(path, _)| !path.ends_with("tests.rs")).collect()
}
