//! The example `onnx_node` from the outside, on ONNX's own node tests.

use crate::absent::WITHOUT_AN_ADAPTER;
use crate::example::Example;
use crate::support::harness::tests;
use crate::support::place;

tests! {
    gpu =>
        all_node_tests_agree,
        another_preset_has_other_conventions;
    cpu =>
        without_an_adapter_it_fails_in_one_line,
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

fn without_an_adapter_it_fails_in_one_line() {
    let (scratch, tests) = (EXAMPLE.scratch("none"), folder(""));
    for &(arguments, expected) in WITHOUT_AN_ADAPTER {
        EXAMPLE.fails(&scratch, &[arguments, &[&tests]].concat(), expected);
    }
}

fn a_folder_without_tests_is_refused() {
    let scratch = EXAMPLE.scratch("empty");
    EXAMPLE.fails(&scratch, &["."], "no model.onnx in it");
    EXAMPLE.fails(&scratch, &["nowhere"], "nowhere: ");
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--preset", "--backend", "--adapter"]);
}
