//! Says which tests are ignored: those that need a GPU where the environment leaves them out, and those that need a
//! program or a layer that is not installed. Takes the functions of the pages of the documentation out of them, so that
//! tests/full/tests/guest/pages.rs runs what stands there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where the loader of Vulkan looks for layers on Linux, and where Debian has that of validation.
const LAYER: &str = "vulkan/explicit_layer.d/VkLayer_khronos_validation.json";

fn main() {
    println!("cargo::rerun-if-env-changed=WGPU_POOLING_SKIP_GPU");
    let limits = Command::new("prlimit").arg("--version").output().is_ok_and(|output| output.status.success());
    let layers = ["/usr/share", "/usr/local/share", "/etc"].map(|folder| Path::new(folder).join(LAYER));
    let conditions = [
        ("skips_gpu", env::var_os("WGPU_POOLING_SKIP_GPU").is_some_and(|value| value == "1")),
        ("no_prlimit", !limits),
        ("no_validation_layer", !layers.iter().any(|layer| layer.exists())),
    ];
    for layer in layers {
        // A file that is not there is looked for each time.
        println!("cargo::rerun-if-changed={}", layer.display());
    }
    for (condition, holds) in conditions {
        println!("cargo::rustc-check-cfg=cfg({condition})");
        if holds {
            println!("cargo::rustc-cfg={condition}");
        }
    }
    pages();
}

fn pages() {
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
