//! Takes the functions of the pages of the documentation out of them, so that tests/full/tests/guest/pages.rs runs what
//! stands there.

use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let mut functions = String::new();
    for page in ["../../src/docs/memory.md", "../../src/docs/guests.md"] {
        println!("cargo::rerun-if-changed={page}");
        let text = fs::read_to_string(page).expect("the page is there");
        let programs = text.split("\n```rust,").skip(1).filter_map(|rest| rest.split("\n```").next()?.split_once('\n'));
        // The test has imports of its own; what is hidden stands for functions of other programs of the page.
        let lines = programs.flat_map(|(_, program)| program.lines());
        for line in lines.filter(|line| !line.starts_with("# ") && !line.starts_with("use ")) {
            functions.push_str(line);
            functions.push('\n');
        }
    }
    let file = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it")).join("pages.rs");
    fs::write(file, functions).expect("cargo's folder can be written");
}
