//! OpenVINO's IR: a model that OpenVINO 2026.4.1 has written, bodies inside layers, and texts that are none.

use support::place;
use wgpu_pooling::onnx::{Model, ModelError, ValueSource};
use wgpu_pooling::{IndexType, NanPolicy, Plan, PlanError, Preset};

use super::build::next;

fn folder() -> std::path::PathBuf {
    place::root().join("tests/models/openvino")
}

fn layer(id: usize, kind: &str, version: &str, data: &str, ports: &str) -> String {
    format!("<layer id='{id}' name='l{id}' type='{kind}' version='{version}'><data {data}/>{ports}</layer>")
}

pub fn net(layers: &str, edges: &str) -> String {
    format!("<net name='n' version='11'><layers>{layers}</layers><edges>{edges}</edges></net>")
}

fn port(direction: &str, id: usize, shape: &[i64]) -> String {
    let dims: String = shape.iter().map(|extent| format!("<dim>{extent}</dim>")).collect();
    format!("<{direction}><port id='{id}' precision='FP32'>{dims}</port></{direction}>")
}

const DATA: &str = "kernel='2' strides='1' pads_begin='0' pads_end='0'";

fn pool(version: &str, data: &str) -> Result<Plan, ModelError> {
    let ports = [port("input", 0, &[1, 1, 9]), port("output", 1, &[])].concat();
    let model = Model::from_ir(&net(&layer(0, "MaxPool", version, data, &ports), ""), &[])?;
    model.nodes()[0].plan(Preset::Onnx)
}

#[test]
fn layers_that_openvino_has_written_have_openvinos_shapes() {
    let model = Model::open(&folder().join("model.xml")).unwrap();
    let plans: Vec<_> = model.nodes().iter().map(|node| node.plan(Preset::Onnx).unwrap()).collect();
    let shapes: Vec<_> = plans.iter().map(|plan| &plan.outputs()[0].shape[..]).collect();
    assert_eq!(shapes, [&[1, 2, 4, 5][..], &[1, 2, 3, 4], &[1, 2, 2, 3], &[1, 2, 2, 3]]);
    let names: Vec<_> = model.nodes().iter().map(|node| (node.name(), node.node().unwrap().opset())).collect();
    assert_eq!(names, [("pool8", 8), ("pool14", 14), ("adaptive", 8), ("pool1", 1)]);
    let types: Vec<_> = plans.iter().map(Plan::index_type).collect();
    assert_eq!(types, [Some(IndexType::I32), Some(IndexType::I64), Some(IndexType::I32), None]);
    assert_eq!(model.inputs(), ["x"]);
    let sources: Vec<_> = model.nodes().iter().map(|node| node.inputs()[0].source.clone()).collect();
    let output = |node| ValueSource::Output { node, output: 0 };
    assert_eq!(sources, [ValueSource::Input(0), output(0), output(1), output(2)]);
    let outputs: Vec<_> = model.outputs().iter().map(|(_, source)| source.clone()).collect();
    assert_eq!(outputs, [output(3), ValueSource::Output { node: 2, output: 1 }]);
    let text = std::fs::read_to_string(folder().join("model.xml")).unwrap();
    assert!(matches!(Model::from_ir(&text, &[0; 15]), Err(ModelError::Ir(_))), "the weights are too short");
}

#[test]
fn attributes_have_openvinos_meaning() {
    let shape = |version: &str, more: &str| {
        let data = format!("kernel='2' strides='3' pads_begin='0' pads_end='0' {more}");
        pool(version, &data).map(|plan| plan.outputs()[0].shape[2])
    };
    assert_eq!(shape("opset8", ""), Ok(3));
    assert_eq!(shape("opset8", "rounding_type='ceil'"), Ok(4));
    assert_eq!(shape("opset14", "rounding_type='ceil_torch'"), Ok(3));
    assert_eq!(shape("opset1", "rounding_type='ceil' auto_pad='same_lower'"), Ok(3));
    for (version, more, attribute) in [
        ("opset8", "rounding_type='ceil_torch'", "rounding_type"),
        ("opset8", "auto_pad='SAME'", "auto_pad"),
        ("opset8", "axis='3'", "axis"),
        ("opset8", "axis='-4'", "axis"),
        ("opset8", "index_element_type='i8'", "index_element_type"),
    ] {
        let error = shape(version, more).unwrap_err();
        assert!(
            matches!(error, ModelError::Plan(PlanError::UnknownValue { attribute: found, .. }) if found == attribute)
        );
    }
    assert!(shape("opset8", "axis='-3'").is_ok() && shape("opset8", "axis='-1'").is_ok());
    let unknown = shape("opset1", "dilations='1'").unwrap_err();
    assert!(matches!(unknown, ModelError::Plan(PlanError::UnknownAttribute { .. })), "{unknown}");
    let Plan::Pool(plan) = pool("opset8", DATA).unwrap() else { panic!() };
    assert_eq!(plan.nan_policy, NanPolicy::SeedLowest);
    assert!(matches!(pool("opset9", DATA), Err(ModelError::Plan(PlanError::UnknownOperator { .. }))));
    assert!(matches!(pool("extension", DATA), Err(ModelError::Ir(_))));
    assert!(matches!(pool("opset8", "kernel='2' strides='1'"), Err(ModelError::Plan(_))));
    assert!(matches!(pool("opset8", "kernel='two'"), Err(ModelError::Ir(_))));
}

#[test]
fn bodies_inside_layers_are_found() {
    let ports = [port("input", 0, &[1, 1, -1]), port("output", 1, &[])].concat();
    let inner = net(
        &[
            layer(0, "Parameter", "opset1", "", &port("output", 0, &[1, 1, -1])),
            layer(1, "MaxPool", "opset8", DATA, &ports),
        ]
        .concat(),
        "<edge from-layer='0' from-port='0' to-layer='1' to-port='0'/>",
    );
    let inner = inner.replace("net name='n' version='11'", "body").replace("/net", "/body");
    let outer = format!("<layer id='5' name='loop' type='Loop' version='opset5'>{inner}</layer>");
    let model = Model::from_ir(&net(&outer, ""), &[]).unwrap();
    assert_eq!(model.nodes()[0].scope(), "loop.body");
    assert_eq!(model.nodes()[0].inputs()[0].source, ValueSource::Elsewhere("Parameter".to_owned()));
    let error = model.nodes()[0].plan(Preset::Onnx).unwrap_err();
    assert!(error.to_string().starts_with("the model does not say the shape of X (\"l0\"): "), "{error}");
}

#[test]
fn namespaces_are_read_up_to_a_limit() {
    let ports = [port("input", 0, &[1, 1, 9]), port("output", 1, &[])].concat();
    let layer = layer(0, "MaxPool", "opset8", DATA, &ports);
    let (named, declared) = (layer.replace("name='l0'", "name='xmlns'"), layer.replace("<layer", "<layer xmlns='a'"));
    let other = layer.replace("name='l0'", "name='l0' xmlns:a='b' a:id='7'");
    let remarked = format!("<!-- xmlns='a' -->{layer}");
    for (layer, name) in [(named, "xmlns"), (declared, "l0"), (other, "l0"), (remarked, "l0")] {
        let model = Model::from_ir(&net(&layer, ""), &[]).unwrap();
        assert_eq!(model.nodes()[0].name(), name, "{layer}");
        assert!(model.nodes()[0].plan(Preset::Onnx).is_ok(), "{layer}");
    }
    // The parser copies them for each element that has one of its own.
    let nested: String = (0..65).map(|number| format!("<a xmlns:a{number} = 'b'>")).collect();
    let error = Model::from_ir(&format!("<net>{nested}"), &[]).unwrap_err();
    assert_eq!(error, ModelError::TooMany { what: "namespaces", found: 65, limit: 64 });
}

#[test]
fn texts_that_are_no_ir_are_refused() {
    for text in ["", "<", "<net>", "<other/>", "not xml", "<!DOCTYPE x [<!ENTITY a 'b'>]><net/>"] {
        assert!(matches!(Model::from_ir(text, &[]), Err(ModelError::Ir(_))), "{text}");
    }
    let deep = ["<a>".repeat(200_000), "</a>".repeat(200_000)].concat();
    let _ = Model::from_ir(&format!("<net>{deep}</net>"), &[]);
    let many: String = (0..100_000).map(|number| format!(" a{number}=''")).collect();
    let many = Model::from_ir(&format!("<net{many}/>"), &[]).unwrap_err();
    assert!(matches!(many, ModelError::TooMuchWork { .. }), "the parser compares each with each: {many}");
    let tags = Model::from_ir(&"<".repeat((1 << 23) + 2), &[]).unwrap_err();
    assert!(matches!(tags, ModelError::TooMany { .. }), "the parser takes room for each: {tags}");
    let text = std::fs::read_to_string(folder().join("model.xml")).unwrap();
    let mut state = 3;
    let mut next = || next(&mut state);
    for _ in 0..3_000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=next() % 3 {
            let at = next() % bytes.len();
            bytes[at] = b"<>/\"'=-0159 aX"[next() % 14];
        }
        if let Ok(model) = Model::from_ir(&String::from_utf8_lossy(&bytes), &[1; 16]) {
            for node in model.nodes() {
                let _ = (node.plan(Preset::Onnx), node.traps());
            }
        }
    }
}
