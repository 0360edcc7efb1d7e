//! What a run prints where there is no adapter, and where GPU tests are left out. This program runs itself again, on
//! one test that needs a GPU.

use std::process::Command;

use support::tests;

tests! {
    cpu =>
        what_is_left_out_is_ignored_and_does_not_pass,
        without_an_adapter_tests_fail_and_say_what_to_install;
}

/// Whether the run succeeds, and what it prints.
fn without_an_adapter(skip: &str) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
    command.args(["chain::pool_unpool_pool_take_one_submit_and_one_readback", "--exact"]);
    // No backend has this name.
    command.env("WGPU_BACKEND", "abacus").env("WGPU_POOLING_SKIP_GPU", skip).env("RUST_BACKTRACE", "0");
    let output = command.output().expect("a test can start itself");
    (output.status.success(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

fn what_is_left_out_is_ignored_and_does_not_pass() {
    let (success, said) = without_an_adapter("1");
    assert!(success && said.contains("0 passed; 0 failed; 1 ignored"), "{said}");
}

fn without_an_adapter_tests_fail_and_say_what_to_install() {
    let (success, said) = without_an_adapter("0");
    assert!(!success && said.contains("0 passed; 1 failed"), "{said}");
    assert!(said.contains("mesa-vulkan-drivers") && said.contains("WGPU_POOLING_SKIP_GPU=1 to leave"), "{said}");
}
