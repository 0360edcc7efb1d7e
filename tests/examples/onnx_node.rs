//! The example `onnx_node` from the outside, on ONNX's own node tests.

use support::place;
use support::tests;

use crate::absent::{ABSENT_BACKEND, HOST, WITHOUT_A_GPU};
use crate::example::Example;

tests! {
    gpu =>
        all_node_tests_agree,
        another_preset_has_other_conventions;
    cpu =>
        all_node_tests_agree_on_the_cpu,
        without_a_gpu_the_host_computes_and_says_so,
        an_adapter_that_is_asked_for_has_to_exist,
        a_folder_without_tests_is_refused,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("onnx_node");

/// The node tests, one of them, or none by this name.
fn folder(name: &str) -> String {
    place::root().join("tests/onnx-node-tests").join(name).display().to_string()
}

fn all_node_tests_agree() {
    let report = EXAMPLE.run_well(&EXAMPLE.scratch("all"), &[&folder("")]);
    assert!(!report.starts_with(&format!("device  {HOST}")), "{report}");
    check_all(&report);
}

fn all_node_tests_agree_on_the_cpu() {
    check_all(&EXAMPLE.run_well(&EXAMPLE.scratch("cpu"), &["--backend", "cpu", &folder("")]));
}

fn check_all(report: &str) {
    let agree =
        report.lines().filter(|line| line.starts_with("ok      test_max") || line.starts_with("ok      test_global"));
    assert_eq!(agree.count(), 23, "{report}");
    assert!(report.contains("test_maxpool_2d_uint8: max_pool, [[1, 1, 5, 5]]"), "{report}");
    assert!(report.ends_with("all 23 node tests agree, bit for bit\n"), "{report}");
}

fn another_preset_has_other_conventions() {
    // The published test counts indices in the inferred shape, onnxruntime in the given one (onnx#2398).
    let test = folder("test_maxunpool_export_with_output_shape");
    EXAMPLE.run_well(&EXAMPLE.scratch("preset"), &[&test]);
    EXAMPLE.fails(&EXAMPLE.scratch("preset"), &[&test, "--preset", "onnxruntime"], "1 of 1 node tests failed");
}

fn without_a_gpu_the_host_computes_and_says_so() {
    let arguments = [&folder("test_maxpool_2d_uint8")[..]];
    // With this variable no GPU is found.
    let output = EXAMPLE.run_with(&EXAMPLE.scratch("none"), &[("WGPU_BACKEND", ABSENT_BACKEND)], &arguments);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{report}");
    assert!(report.starts_with(&format!("device  {HOST}")) && report.contains(WITHOUT_A_GPU), "{report}");
}

fn an_adapter_that_is_asked_for_has_to_exist() {
    let (scratch, tests) = (EXAMPLE.scratch("absent"), folder(""));
    EXAMPLE.fails(&scratch, &["--backend", ABSENT_BACKEND, &tests], "no usable GPU adapter");
    EXAMPLE.fails(&scratch, &["--adapter", "no such card", &tests], "no usable GPU adapter");
}

fn a_folder_without_tests_is_refused() {
    let scratch = EXAMPLE.scratch("empty");
    EXAMPLE.fails(&scratch, &["."], "no model.onnx in it");
    EXAMPLE.fails(&scratch, &["nowhere"], "nowhere: ");
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--preset", "--backend", "--adapter"]);
}
