//! The example `pool_model` from the outside: on ONNX's node tests, on a model of onnxruntime's with nested graphs and
//! a function, and on one of OpenVINO's. It needs no GPU.

use std::path::Path;

use serde_json::Value;
use support::place;
use support::tests;

use crate::example::Example;

tests! {
    cpu =>
        every_node_test_agrees,
        nodes_in_graphs_and_functions_run,
        an_ir_agrees_with_openvino,
        as_json_the_same_is_said,
        another_preset_has_other_conventions,
        a_recorded_output_that_differs_is_an_error,
        extents_with_names_get_their_sizes,
        what_is_not_there_is_said,
        what_is_wrong_is_said_in_one_line,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("pool_model");

fn path(name: &str) -> String {
    place::root().join("tests").join(name).display().to_string()
}

/// A run on a model with its recorded tensors.
fn run(test: &str, model: &str, more: &[&str]) -> String {
    let model = path(model);
    let folder = Path::new(&model).with_file_name("test_data_set_0").display().to_string();
    EXAMPLE.run_well(&EXAMPLE.scratch(test), &[&[&model[..], "--inputs", &folder], more].concat())
}

fn every_node_test_agrees() {
    let folders = std::fs::read_dir(path("onnx-node-tests")).unwrap().map(|entry| entry.unwrap());
    let mut tests = 0;
    for folder in folders.filter(|folder| folder.path().is_dir()) {
        let name = folder.file_name().into_string().unwrap();
        let report = run("node_tests", &format!("onnx-node-tests/{name}/model.onnx"), &[]);
        assert!(report.starts_with("1 pooling node\n"), "{name}: {report}");
        assert!(report.contains("\n1 of 1 nodes ran; "), "{name}: {report}");
        assert!(
            report.contains("agrees, bit for bit") && report.ends_with(" outputs of the model agree\n"),
            "{report}"
        );
        tests += 1;
    }
    assert_eq!(tests, 23);
}

fn nodes_in_graphs_and_functions_run() {
    let report = run("nested", "models/nested/model.onnx", &[]);
    for line in [
        "node 0       MaxPool in_down in down.Down",
        "node 2       MaxPool in_then in choice.then_branch",
        "opset        22, so the rules of ONNX MaxUnpool-22",
        "attributes   strides [2, 2], kernel_shape [2, 2]",
        "y            f32 [1, 2, 4, 4] NCHW",
        "no plan      the model does not say the shape of X (\"r\"): onnx.shape_inference.infer_shapes writes shapes \
         and types into ONNX models",
        "not run      \"r\" is an output of Relu, which this program does not run",
        "ran          u agrees, bit for bit",
        "ran          none of its outputs is one of the model",
        "4 of 5 nodes ran; 2 of 2 outputs of the model agree",
    ] {
        assert!(report.lines().any(|own| own == line), "{line} is not in {report}");
    }
    assert!(report.contains("trap         auto_pad SAME with dilations: "), "{report}");
    let without = EXAMPLE.run_well(&EXAMPLE.scratch("without"), &[&path("models/nested/model.onnx")]);
    assert!(!without.contains("ran") || !without.contains("nodes ran"), "{without}");
    assert!(without.contains("CPU          ") && without.contains("GPU          max_pool "), "{without}");
}

fn an_ir_agrees_with_openvino() {
    let report = run("openvino", "models/openvino/model.xml", &[]);
    assert!(report.contains("opset        14, so the rules of OpenVINO MaxPool-14\n"), "{report}");
    assert!(report.ends_with("4 of 4 nodes ran; 2 of 2 outputs of the model agree\n"), "{report}");
}

fn as_json_the_same_is_said() {
    let report: Value = serde_json::from_str(&run("json", "models/nested/model.onnx", &["--json"])).unwrap();
    let node = |number: usize| &report["nodes"][number];
    assert_eq!(report["nodes"].as_array().map(Vec::len), Some(5));
    assert_eq!((node(0)["op_type"].as_str(), node(0)["scope"].as_str()), (Some("MaxPool"), Some("down.Down")));
    assert_eq!(node(0)["plan"]["axes"][1]["window"]["kernel"], 2);
    assert_eq!(node(1)["run"][0]["result"], "agrees");
    assert_eq!(node(3)["plan"], Value::Null);
    assert!(node(3)["no_plan"].as_str().is_some_and(|why| why.contains("shape of X")));
    assert_eq!(node(4)["traps"][0]["name"], "same_dilated");
}

fn another_preset_has_other_conventions() {
    // onnxruntime counts in the given shape (onnx#2398), so the published outputs are not its own.
    let model = path("onnx-node-tests/test_maxunpool_export_with_output_shape/model.onnx");
    let inputs = Path::new(&model).with_file_name("test_data_set_0").display().to_string();
    let arguments = [&model[..], "--inputs", &inputs, "--preset", "onnxruntime"];
    EXAMPLE.fails(&EXAMPLE.scratch("preset"), &arguments, "a recorded output differs");
}

fn a_recorded_output_that_differs_is_an_error() {
    let folder = EXAMPLE.scratch("differs");
    let test = path("onnx-node-tests/test_maxpool_2d_uint8");
    let mut output = std::fs::read(format!("{test}/test_data_set_0/output_0.pb")).unwrap();
    std::fs::copy(format!("{test}/test_data_set_0/input_0.pb"), folder.join("input_0.pb")).unwrap();
    *output.last_mut().unwrap() ^= 1;
    std::fs::write(folder.join("output_0.pb"), output).unwrap();
    let arguments = [&format!("{test}/model.onnx")[..], "--inputs", "."];
    EXAMPLE.fails(&folder, &arguments, "a recorded output differs");
    let report = String::from_utf8(EXAMPLE.run_with(&folder, &[], &arguments).stdout).unwrap();
    assert!(report.contains("y DIFFERS: 1 elements differ, the first at 24"), "{report}");
}

/// A field of a message in few bytes.
fn field(number: u8, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

fn extents_with_names_get_their_sizes() {
    let shape = [field(1, field(2, "N")), field(1, [8, 3]), field(1, field(2, "L"))].concat();
    let x = [field(1, "x"), field(2, field(1, [vec![8, 1], field(2, shape)].concat()))].concat();
    let node = [field(1, "x"), field(2, "y"), field(4, "GlobalMaxPool")].concat();
    let model = [field(8, [16, 22]), field(7, [field(1, node), field(11, x)].concat())].concat();
    let folder = EXAMPLE.scratch("sizes");
    std::fs::write(folder.join("model.onnx"), model).unwrap();
    let report = EXAMPLE.run_well(&folder, &["model.onnx", "--size", "N=2"]);
    let line = "the shape of X (\"x\"): Model::with_sizes gives sizes to [\"L\"], here --size\n";
    assert!(report.contains(line), "{report}");
    let report = EXAMPLE.run_well(&folder, &["model.onnx", "--size", "N=2", "--size", "L=9"]);
    assert!(report.contains("y            f32 [2, 3, 1] NCHW\n"), "{report}");
    let unknown = ("M=1", "no input of a pooling node has an extent of this name");
    for (size, expected) in [("N", "expected a name"), ("N=-2", "invalid digit"), unknown] {
        EXAMPLE.fails(&folder, &["model.onnx", "--size", size], expected);
    }
}

fn what_is_not_there_is_said() {
    let folder = EXAMPLE.scratch("missing");
    let model = path("onnx-node-tests/test_maxpool_2d_uint8/model.onnx");
    let report = EXAMPLE.run_well(&folder, &[&model, "--inputs", "."]);
    assert!(report.contains("not run      ./input_0.pb: "), "{report}");
    std::fs::copy(Path::new(&model).with_file_name("test_data_set_0/input_0.pb"), folder.join("input_0.pb")).unwrap();
    let report = EXAMPLE.run_well(&folder, &[&model, "--inputs", "."]);
    assert!(report.contains("ran          y is not recorded: ./output_0.pb: "), "{report}");
    assert!(report.ends_with("1 of 1 nodes ran; 0 of 1 outputs of the model agree\n"), "{report}");
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    std::fs::write(folder.join("empty.onnx"), "").unwrap();
    std::fs::write(folder.join("text.onnx"), "this is no model").unwrap();
    std::fs::write(folder.join("text.xml"), "this is no model").unwrap();
    for (arguments, expected) in [
        (&["nowhere.onnx"][..], "nowhere.onnx: "),
        (
            &["empty.onnx"],
            "empty.onnx, which is read as an OpenVINO IR if its name ends in .xml, and as ONNX otherwise: the ",
        ),
        (&["text.onnx"], ", at byte "),
        (&["text.xml"], "no OpenVINO IR: "),
        (&[], "<MODEL>"),
        (&["empty.onnx", "--preset", "caffe"], "onnx, onnx_after_1_23"),
    ] {
        EXAMPLE.fails(&folder, arguments, expected);
    }
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--inputs", "--size", "--preset", "--json"]);
}
