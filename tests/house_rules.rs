//! What every source file keeps to. A rule that is only written down is not kept.

use std::path::{Path, PathBuf};

fn sources(under: &str, ending: &str) -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, ending: &str, found: &mut Vec<(PathBuf, String)>) {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.expect("a readable folder").path();
            if path.is_dir() {
                collect(&path, ending, found);
            } else if path.to_string_lossy().ends_with(ending) {
                let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join(under), ending, &mut found);
    assert!(!found.is_empty(), "no {ending} under {under}");
    found
}

/// The sources of the library without the files that hold nothing but tests.
fn library() -> Vec<(PathBuf, String)> {
    sources("src", ".rs").into_iter().filter(|(path, _)| !path.ends_with("tests.rs")).collect()
}

/// The lines that are compiled into the library: no comments, nothing from the test module on.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| *line != "#[cfg(test)]").filter(|line| !line.trim_start().starts_with("//"))
}

#[test]
fn wgpu_is_spelled_only_under_src_gpu() {
    for (path, text) in library() {
        let inside = path.components().any(|part| part.as_os_str() == "gpu");
        let spelled = code(&text).any(|line| line.contains("wgpu::"));
        assert!(inside || !spelled, "{} spells wgpu::", path.display());
    }
}

#[test]
fn the_library_neither_prints_nor_panics_on_purpose() {
    let words =
        ["println!", "eprintln!", "dbg!", ".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "unsafe "];
    for (path, text) in library() {
        for line in code(&text) {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                panic!("{} has {word} in {line:?}", path.display());
            }
        }
    }
}

#[test]
fn nothing_is_global() {
    for (path, text) in library() {
        let global = code(&text).any(|line| {
            let line = line.trim_start();
            line.starts_with("static ") || line.starts_with("pub static ") || line.contains("thread_local!")
        });
        assert!(!global, "{} keeps global state", path.display());
    }
}

#[test]
fn clocks_threads_and_blocking_are_compiled_out_on_wasm() {
    for (path, text) in library() {
        assert!(!code(&text).any(|line| line.contains("std::time")), "{} reads a clock", path.display());
        let lines: Vec<&str> = code(&text).collect();
        for (number, line) in lines.iter().enumerate() {
            if !line.contains("std::thread") && !line.contains("pollster::") {
                continue;
            }
            // The item that holds the line begins at the last line without indentation that opens something; it, or the
            // method inside it, carries the attribute.
            let gate = "#[cfg(not(target_arch = \"wasm32\"))]";
            let top = lines[..=number].iter().rposition(|line| !line.starts_with([' ', '}', ')']) && !line.is_empty());
            let top = top.unwrap_or(0);
            let gated = lines[top.saturating_sub(3)..=number].iter().any(|line| line.trim() == gate);
            assert!(gated, "{}: {line:?} is not behind {gate}", path.display());
        }
    }
}

#[test]
fn shaders_ask_for_no_feature_and_name_no_float_infinity() {
    let everywhere = ["enable ", "requires ", "f16>", "f64>", "inf", "0x1p", "3.4028", "max("];
    // Only activations calculate in floats; all else moves and compares words.
    let elsewhere = ["bitcast<f", "f32"];
    for (path, text) in sources("shaders", ".wgsl") {
        let calculates = path.components().any(|part| part.as_os_str() == "activation");
        let mut words = everywhere.to_vec();
        if !calculates {
            words.extend(elsewhere);
        }
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            if let Some(word) = words.iter().find(|word| line.contains(**word)) {
                panic!("{} has {word:?} in {line:?}", path.display());
            }
        }
    }
}

#[test]
fn every_shader_part_on_disk_is_composed() {
    let list = include_str!("../src/wgsl.rs");
    for (path, _) in sources("shaders", ".wgsl") {
        let name = path
            .strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders"))
            .expect("a path under shaders")
            .to_string_lossy()
            .replace('\\', "/");
        assert!(list.contains(&format!("\"{name}\",")), "{name} is not among the parts");
    }
}

#[test]
fn files_stay_short_enough_to_read() {
    for (path, text) in library() {
        let lines = code(&text).count();
        assert!(lines <= 500, "{} has {lines} lines", path.display());
    }
}
