//! What a run says where there is no adapter, and where the tests that need a GPU are left out.

use std::process::Command;

/// This program runs itself again, on one test that needs a GPU.
#[test]
fn without_an_adapter_a_test_fails_unless_it_is_left_out() {
    let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
    command.args(["chain::pool_unpool_pool_take_one_submit_and_one_readback", "--exact"]);
    // No backend has this name.
    let output = command.env("WGPU_BACKEND", "abacus").env("RUST_BACKTRACE", "0").output().expect("a test can be run");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    if cfg!(skips_gpu) {
        assert!(output.status.success() && said.contains("0 passed; 0 failed; 1 ignored"), "{said}");
    } else {
        assert!(!output.status.success() && said.contains("0 passed; 1 failed"), "{said}");
        assert!(said.contains("mesa-vulkan-drivers") && said.contains("WGPU_POOLING_SKIP_GPU=1 to leave"), "{said}");
    }
}
