//! The examples that read models, on ONNX's node tests, on a model of onnxruntime's with nested graphs and a function,
//! and on one of OpenVINO's.

use std::fs;
use std::path::Path;

#[cfg(feature = "gpu")]
use gpu_test::gpu_test;
use serde_json::Value;
use support::place;

use crate::example::{Example, Files};

static ONNX_NODE: Example = Example::new("onnx_node");
static POOL_MODEL: Example = Example::new("pool_model");
pub const EXAMPLES: Files = match cfg!(feature = "gpu") {
    true => &[(&POOL_MODEL, wrong), (&ONNX_NODE, |_| ())],
    false => &[(&POOL_MODEL, wrong)],
};

#[cfg(feature = "gpu")]
fn the_node_tests_agree(on: &str) {
    let all = ["test_maxpool_2d_uint8: max_pool, [[1, 1, 5, 5]]\n", "all 23 node tests agree, bit for bit\n"];
    let report = ONNX_NODE.says(&ONNX_NODE.scratch("all"), &format!("{on} ROOT/tests/onnx-node-tests"), &all);
    assert_eq!(report.lines().filter(|line| line.starts_with("ok      test_")).count(), 23, "{report}");
}

#[cfg(feature = "gpu")]
#[gpu_test]
fn the_node_tests_agree_on_a_gpu() {
    the_node_tests_agree("");
}

#[cfg(feature = "gpu")]
#[test]
fn the_node_tests_agree_on_the_cpu() {
    the_node_tests_agree("--backend cpu");
    let test = "ROOT/tests/onnx-node-tests/test_maxpool_2d_uint8";
    ONNX_NODE.computes_without_a_gpu(test, "agree, bit for bit");
}

#[test]
fn models_of_others_agree() {
    POOL_MODEL.reports(&POOL_MODEL.scratch("known"));
}

#[test]
fn as_json_the_same_is_said() {
    const NESTED: &str = "ROOT/tests/models/nested/model.onnx --inputs ROOT/tests/models/nested/test_data_set_0 --json";
    let report: Value = serde_json::from_str(&POOL_MODEL.says(&POOL_MODEL.scratch("json"), NESTED, &[])).unwrap();
    let node = |number: usize| &report["nodes"][number];
    assert_eq!(report["nodes"].as_array().map(Vec::len), Some(5));
    assert_eq!((&node(0)["op_type"], &node(0)["scope"]), (&"MaxPool".into(), &"down.Down".into()));
    assert_eq!(
        (&node(0)["plan"]["axes"][1]["window"]["kernel"], &node(1)["run"][0]["result"]),
        (&2.into(), &"agrees".into())
    );
    assert!(node(3)["plan"].is_null() && node(3)["no_plan"].as_str().unwrap().contains("shape of X"), "{report}");
    assert_eq!(node(4)["traps"][0]["name"], "same_dilated");
}

const TEST: &str = "tests/onnx-node-tests/test_maxpool_2d_uint8";

#[test]
fn a_recorded_output_that_differs_is_an_error() {
    let (folder, test) = (POOL_MODEL.scratch("differs"), place::root().join(TEST).join("test_data_set_0"));
    let mut output = fs::read(test.join("output_0.pb")).unwrap();
    fs::copy(test.join("input_0.pb"), folder.join("input_0.pb")).unwrap();
    *output.last_mut().unwrap() ^= 1;
    fs::write(folder.join("output_0.pb"), output).unwrap();
    let arguments = format!("ROOT/{TEST}/model.onnx --inputs .");
    POOL_MODEL.fails(&folder, &arguments, "a recorded output differs");
    let report = String::from_utf8(POOL_MODEL.run(&folder, &[], &arguments).stdout).unwrap();
    assert!(report.contains("y DIFFERS: 1 elements differ, the first at 24"), "{report}");
}

#[test]
fn what_is_not_there_is_said() {
    let (folder, test) = (POOL_MODEL.scratch("missing"), place::root().join(TEST).join("test_data_set_0"));
    let arguments = format!("ROOT/{TEST}/model.onnx --inputs .");
    POOL_MODEL.says(&folder, &arguments, &["not run      ./input_0.pb: "]);
    fs::copy(test.join("input_0.pb"), folder.join("input_0.pb")).unwrap();
    let not_recorded = "ran          y is not recorded: ./output_0.pb: ";
    POOL_MODEL.says(&folder, &arguments, &[not_recorded, "1 of 1 nodes ran; 0 of 1 outputs of the model agree\n"]);
}

fn wrong(folder: &Path) {
    for (name, text) in [("empty.onnx", ""), ("text.onnx", "this is no model"), ("text.xml", "this is no model")] {
        fs::write(folder.join(name), text).unwrap();
    }
}
