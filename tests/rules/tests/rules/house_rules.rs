//! Rules that every source file keeps. A rule that is only written down is not kept.

use std::path::{Path, PathBuf};

use crate::sources::{CRATES, read, root, sources, sources_of};

fn library() -> Vec<(PathBuf, String)> {
    CRATES.into_iter().flat_map(sources_of).collect()
}

#[test]
fn every_crate_of_the_library_is_named() {
    let crates = root().join("crates");
    for entry in std::fs::read_dir(crates).expect("a readable folder") {
        let folder = format!("crates/{}", entry.expect("a readable folder").file_name().display());
        assert!(CRATES.contains(&folder.as_str()), "no rule is kept in {folder}: tests/rules/tests/rules/sources.rs");
    }
}

/// The lines that are compiled into the library: no comments, nothing from the test module on.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| *line != "#[cfg(test)]").filter(|line| !line.trim_start().starts_with("//"))
}

/// The lines of the library's code that have one of these words, each with its file.
fn lines_with(words: &[&str]) -> Vec<(PathBuf, String)> {
    let has = |line: &&str| words.iter().any(|word| line.contains(word));
    let of = |(path, text): (PathBuf, String)| {
        code(&text).filter(has).map(|line| (path.clone(), line.to_owned())).collect::<Vec<_>>()
    };
    library().into_iter().flat_map(of).collect()
}

#[test]
fn wgpu_is_spelled_only_under_src_gpu() {
    let outside = lines_with(&["wgpu::"]).into_iter().find(|(path, _)| !path.starts_with("src/gpu"));
    assert_eq!(outside, None);
}

#[test]
fn the_library_neither_prints_nor_panics_on_purpose() {
    let words =
        ["println!", "eprintln!", "dbg!", ".unwrap()", ".expect(", "panic!(", "todo!(", "unimplemented!(", "unsafe "];
    assert_eq!(lines_with(&words), []);
}

/// Elsewhere no test could make what they allocate fail.
#[test]
fn buffers_are_made_and_staged_in_one_place() {
    let words = ["create_buffer(", "create_query_set(", "create_buffer_init(", ".write_buffer", ".write_texture("];
    let elsewhere = lines_with(&words).into_iter().find(|(path, _)| path != Path::new("src/gpu/device/allocator.rs"));
    assert_eq!(elsewhere, None);
}

/// Dropping one of these can need the context of a GL device, which is one thread's at a time.
#[test]
fn what_is_kept_of_wgpus_objects_is_owned() {
    let kinds =
        ["BindGroup", "BindGroupLayout", "Buffer", "CommandEncoder", "ComputePipeline", "Device", "QuerySet", "Queue"];
    // Parameters by which a caller hands over an object that is wrapped at once.
    let parameters = ["fn from_wgpu(device", "fn new(device: wgpu::Device,", "        buffer: wgpu::Buffer,"];
    let mut owned = 0;
    for (path, text) in library() {
        for line in code(&text).filter(|line| !parameters.iter().any(|parameter| line.contains(parameter))) {
            for (at, _) in line.match_indices("wgpu::") {
                let name = identifier(&line[at + "wgpu::".len()..]).unwrap_or_default();
                let is_type = !line[at..].contains(&format!("wgpu::{name}::"));
                if kinds.contains(&name) && is_type {
                    let before = &line[..at];
                    let borrowed = before.ends_with('&') || before.ends_with("&mut ");
                    owned += usize::from(before.ends_with("Owned<"));
                    assert!(borrowed || before.ends_with("Owned<"), "{} keeps {line:?}", path.display());
                }
            }
        }
    }
    assert!(owned > 30, "{owned} places");
}

/// The rows of a markdown table, cell by cell.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").collect::<Vec<_>>()).filter(|row| row[0] != "fault" && row[0] != "---")
}

/// Whether a file has a test of this name.
fn has_test(text: &str, test: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let named = lines.iter().position(|line| *line == format!("fn {test}() {{"));
    let attributes = |at: usize| lines[..at].iter().rev().take_while(|line| line.starts_with("#["));
    named.is_some_and(|at| attributes(at).any(|line| ["#[test]", "#[gpu_test]"].contains(line)))
}

#[test]
fn every_fault_is_injected_by_a_test_that_exists() {
    let sources = sources("tests", ".rs").into_iter().chain(sources("src/gpu", ".rs"));
    let tests: Vec<String> = sources.map(|(_, text)| text).collect();
    let mut named = 0;
    for row in rows(include_str!("../../../../src/docs/faults.md")) {
        let [fault, _, _, test] = row[..] else { panic!("a row of four cells: {row:?}") };
        let test = test.trim_matches('`');
        assert!(tests.iter().any(|text| has_test(text, test)), "{fault}: there is no test {test}");
        named += 1;
    }
    assert!(named > 15, "{named} rows");
}

/// The counter of windows is no part of a build without debug assertions.
#[test]
fn nothing_is_global() {
    let counter = "#[cfg(debug_assertions)]\npub mod steps {";
    let mut counters = 0;
    for (path, text) in library() {
        let counts = path == Path::new("crates/plan/src/geometry.rs") && text.contains(counter);
        let text = if counts { text.split(counter).next().unwrap_or_default() } else { &text };
        let global = code(text).any(|line| {
            let line = line.trim_start();
            line.starts_with("static ") || line.starts_with("pub static ") || line.contains("thread_local!")
        });
        assert!(!global, "{} keeps global state", path.display());
        counters += usize::from(counts);
    }
    assert_eq!(counters, 1, "the counter is elsewhere now");
}

#[test]
fn clocks_threads_and_blocking_are_compiled_out_on_wasm() {
    for (path, text) in library() {
        let lines: Vec<&str> = code(&text).collect();
        for (number, line) in lines.iter().enumerate() {
            if !["std::time", "std::thread", "pollster::"].iter().any(|name| line.contains(name)) {
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
    let everywhere = ["enable ", "requires ", "f16>", "f64>", "inf", "0x1p", "3.4028"];
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

/// Microsoft's FXC follows values into early returns and then warns that they may not be initialised.
#[test]
fn functions_of_shaders_return_a_value_in_one_place() {
    let mut functions = 0;
    for (path, text) in sources("shaders", ".wgsl") {
        for function in text.split("\nfn ").skip(1).filter_map(|rest| rest.split("\n}").next()) {
            let returned = function.lines().filter(|line| line.trim_start().starts_with("return ")).count();
            assert!(returned <= 1, "{}: fn {}", path.display(), function.lines().next().unwrap_or_default());
            functions += returned;
        }
    }
    assert!(functions > 100, "{functions} functions with a value");
}

#[test]
fn every_shader_part_on_disk_is_composed() {
    let list = include_str!("../../../../src/wgsl/parts.rs");
    let rows = list.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(": "));
    let rows = rows.filter(|(file, _)| file.contains(" / "));
    let rows: Vec<(String, Vec<&str>)> =
        rows.map(|(file, parts)| (file.replace(' ', "") + ".wgsl", parts.split(' ').collect())).collect();
    let mut files = 0;
    for (path, text) in sources("shaders", ".wgsl") {
        let name = path.strip_prefix("shaders").expect("a path under shaders").to_string_lossy().replace('\\', "/");
        let begun = text.lines().filter_map(|line| line.strip_prefix("//// ")?.split([' ', ':']).next());
        let mut parts: Vec<&str> = begun.collect();
        if parts.is_empty() {
            parts.extend(path.file_stem().and_then(|stem| stem.to_str()));
        }
        assert!(rows.contains(&(name.clone(), parts)), "{name}: its parts are not those that parts.rs names");
        files += 1;
    }
    assert_eq!(files, rows.len(), "parts.rs has a row for each file");
}

/// The functions of a file: the line that declares each, and the number of its lines.
fn functions<'a>(lines: &[&'a str]) -> Vec<(&'a str, usize)> {
    let declares = |line: &str| {
        let words = ["pub", "pub(crate)", "pub(super)", "pub(in", "crate::gpu)", "const", "async"];
        let mut rest = line.split_whitespace().skip_while(|word| words.contains(word));
        rest.next() == Some("fn")
    };
    let begins = lines.iter().enumerate().filter(|(_, line)| declares(line));
    let ended = begins.filter_map(|(begin, line)| {
        let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
        // A function of one line, and one of a trait without a body, ends where it begins.
        let length =
            if line.ends_with(['}', ';']) { 0 } else { lines[begin..].iter().position(|line| *line == end)? };
        Some((*line, length + 1))
    });
    ended.collect()
}

#[test]
fn functions_stay_short_enough_to_read() {
    let mut found = 0;
    for (path, text) in library() {
        let lines: Vec<&str> = code(&text).filter(|line| !line.trim().is_empty()).collect();
        for (function, length) in functions(&lines) {
            assert!(length <= 60, "{}: {length} lines: {function}", path.display());
            found += 1;
        }
    }
    assert!(found > 900, "{found} functions were found");
    assert_eq!(
        functions(&["fn a() {", "    b();", "}", "    pub const fn c() {}"]),
        [("fn a() {", 3), ("    pub const fn c() {}", 1)]
    );
}

#[test]
fn files_stay_short_enough_to_read() {
    for (path, text) in library() {
        let lines = code(&text).count();
        assert!(lines <= 500, "{} has {lines} lines", path.display());
    }
}

/// The name of the type or trait that a line declares outside all other items.
fn declared_type(line: &str) -> Option<&str> {
    let mut words = line.split(' ').skip_while(|word| word.starts_with("pub") || word.ends_with(')'));
    let known = ["struct", "enum", "trait", "type"].contains(&words.next()?);
    words.next().and_then(identifier).filter(|_| known)
}

/// A type for one target and its twin for another stand in one file.
#[test]
fn no_two_types_of_the_library_have_one_name() {
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for (path, text) in library() {
        found.extend(code(&text).filter_map(declared_type).map(|name| (name.to_owned(), path.clone())));
    }
    found.sort();
    found.dedup();
    let twice = found.windows(2).find(|pair| pair[0].0 == pair[1].0);
    assert!(twice.is_none(), "two types have one name: {twice:?}");
    assert!(found.len() > 350, "{} types were found", found.len());
    let lines = [
        "pub(in crate::a) struct A<'a> {",
        "enum A {",
        "pub trait A: B {",
        "type A = B;",
        "    type A = B;",
        "fn A() {",
    ];
    assert_eq!(lines.map(declared_type), [Some("A"), Some("A"), Some("A"), Some("A"), None, None]);
}

/// Whether a line is longer than it has to be. What cannot be cut is a row of a table in a comment, and a literal or an
/// address of 80 columns or more.
fn is_too_long(line: &str) -> bool {
    let columns = |text: &str| text.chars().count();
    let comment = line.trim_start().strip_prefix("//").map(|text| text.trim_start_matches(['/', '!', ' ']));
    let row = comment.is_some_and(|text| text.starts_with('|'));
    let raw = line.split_once("r#\"").and_then(|(_, rest)| rest.split_once("\"#")).map(|(literal, _)| literal);
    // Each literal ends on its line: what follows the last quotation mark is none.
    let quoted = line.rsplit_once('"').into_iter().flat_map(|(before, _)| before.split('"').skip(1).step_by(2));
    let addresses = line.split_whitespace().filter(|word| word.contains("://"));
    columns(line) > 120 && !row && !raw.into_iter().chain(quoted).chain(addresses).any(|whole| columns(whole) >= 80)
}

#[test]
fn lines_stay_short_enough_to_read() {
    for folder in ["src", "crates", "tests", "benches", "examples", "python", "web", "fuzz"] {
        for (path, text) in sources(folder, ".rs") {
            let long = text.lines().enumerate().find(|(_, line)| is_too_long(line));
            assert!(long.is_none(), "{}: more than 120 columns: {long:?}", path.display());
        }
    }
    let long = |text: &str| text.replace('~', &"a ".repeat(60));
    for line in [
        "~~",
        "// ~~",
        "//! the table | ~",
        "let text = \"~ \\",
        "call(\"~\\\n",
        "~ \"short\" \"short\"",
        "~ https://a.b",
    ] {
        assert!(is_too_long(&long(line)), "{line}");
    }
    for line in ["// short", "    /// | ~ | ~ |", "let text = \"~\";", "(r#\"{\"a\": ~}\"#,"] {
        assert!(!is_too_long(&long(line)), "{line}");
    }
    assert!(!is_too_long(&format!("/// See https://{}.", "a".repeat(110))));
}

fn identifier(text: &str) -> Option<&str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().filter(|name| !name.is_empty())
}

#[test]
fn the_recipes_and_the_code_map_name_files_that_exist() {
    let root = root();
    for page in ["CONTRIBUTING.md", "ARCHITECTURE.md"] {
        let text = read(page);
        let quoted = text.split('`').skip(1).step_by(2);
        let is_path = |text: &&str| text.contains('/') && !text.contains('<') && !text.contains(char::is_whitespace);
        let files: Vec<&str> = quoted.filter(is_path).collect();
        assert!(files.len() > 10, "{files:?}");
        for file in files {
            assert!(root.join(file).exists(), "{page} names {file}");
        }
    }
}
