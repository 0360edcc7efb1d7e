//! Presets against their runtimes: for every recorded case the preset with the runtime's own attributes, and without
//! the options that the manifest names, has to give the recorded tensors.

use serde_json::{Map, Value};
use support::place;
use support::vectors::case::{Case, Expectation};
use support::vectors::manifest;
use wgpu_pooling::{
    AdaptiveMaxPool, AutoPad, CeilRule, IndexFlattening, IndexType, MaxPool, MaxUnpool, Plan, PlanError,
};

type MakePool = fn(Vec<i64>) -> MaxPool;
type MakeUnpool = fn(Vec<i64>) -> MaxUnpool;
type MakeAdaptive = fn(Vec<i64>) -> AdaptiveMaxPool;

#[derive(Clone, Copy)]
enum Preset {
    Pool(MakePool),
    Unpool(MakeUnpool),
    Adaptive(MakeAdaptive),
}

/// Attributes as the runtime was given them.
struct Attributes<'a>(&'a Map<String, Value>);

impl Attributes<'_> {
    fn integers(&self, name: &str) -> Option<Vec<i64>> {
        let values = self.0.get(name)?.as_array().unwrap_or_else(|| panic!("{name} is not a list"));
        Some(values.iter().map(|value| value.as_i64().unwrap()).collect())
    }

    /// A MaxPool preset with the runtime's attributes.
    fn max_pool(&self, make: MakePool) -> Result<MaxPool, PlanError> {
        let mut pool = make(self.integers("kernel_shape").unwrap());
        for (name, value) in self.0 {
            let integers = || self.integers(name).unwrap();
            pool = match (name.as_str(), value) {
                ("kernel_shape" | "index_element_type", _) => pool,
                ("strides", _) => pool.strides(integers()),
                ("dilations", _) => pool.dilations(integers()),
                ("pads", _) => pool.pads(integers()),
                ("auto_pad", Value::String(text)) => pool.auto_pad(text.parse::<AutoPad>()?),
                ("ceil_mode", Value::Number(number)) => pool.ceil_mode(number.as_i64().unwrap()),
                ("storage_order", Value::Number(number)) => pool.storage_order(number.as_i64().unwrap()),
                ("rounding_type", Value::String(text)) => match text.as_str() {
                    "floor" => pool.ceil_mode(0),
                    "ceil_torch" => pool.ceil_mode(1),
                    "ceil" => pool.ceil_rule(CeilRule::CeilLiteral),
                    other => panic!("rounding_type {other}"),
                },
                ("axis", Value::Number(number)) => {
                    pool.flatten(IndexFlattening::ALL[number.as_i64().unwrap() as usize])
                }
                ("include_batch_in_index", Value::Bool(true)) => pool.flatten(IndexFlattening::Tensor),
                ("include_batch_in_index", Value::Bool(false)) => pool,
                other => panic!("attribute {other:?}"),
            };
        }
        Ok(pool)
    }

    /// A MaxUnpool preset with the runtime's attributes.
    fn max_unpool(&self, make: MakeUnpool, output_shape: Option<&Vec<i64>>) -> MaxUnpool {
        let mut unpool = make(self.integers("kernel_shape").unwrap());
        for name in self.0.keys() {
            let integers = || self.integers(name).unwrap();
            unpool = match name.as_str() {
                "kernel_shape" => unpool,
                "strides" => unpool.strides(integers()),
                "pads" => unpool.pads(integers()),
                other => panic!("attribute {other:?}"),
            };
        }
        if let Some(output_shape) = output_shape { unpool.output_shape(output_shape) } else { unpool }
    }
}

/// The cases of a batch, each with its fields in the manifest.
fn batch(name: &str) -> Vec<(Case, Value)> {
    let path = place::root().join("tests/vectors").join(name).with_extension("json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let Value::Array(fields) = manifest["cases"].take() else { panic!("{name} has no cases") };
    let cases = manifest::read(&path).unwrap();
    assert_eq!(cases.len(), fields.len());
    cases.into_iter().zip(fields).collect()
}

/// The plan of a case under a preset.
fn plan(case: &Case, fields: &Value, preset: Preset) -> Result<Plan, PlanError> {
    let attributes = Attributes(fields["attrs"].as_object().unwrap());
    let index_type = match (&case.indices, &case.expectation) {
        (Some(indices), _) => Some(indices.index_type().unwrap()),
        (None, Expectation::Output { indices: Some(expected), .. }) => Some(expected.index_type().unwrap()),
        (None, _) => None,
    };
    let (shape, dtype) = (case.x.shape(), case.x.dtype());
    Ok(match preset {
        Preset::Pool(make) => attributes.max_pool(make)?.plan(shape, dtype, index_type)?,
        Preset::Unpool(make) => {
            let unpool = attributes.max_unpool(make, case.recipe.output_shape.as_ref());
            unpool.plan(shape, dtype, index_type.unwrap_or(IndexType::I64))?
        }
        Preset::Adaptive(make) => make(attributes.integers("output_size").unwrap()).plan(shape, dtype, index_type)?,
    })
}

/// Whether the reference, under a preset, gives what was recorded.
fn reproduces(case: &Case, fields: &Value, preset: Preset) -> Result<(), String> {
    let plan = plan(case, fields, preset).map_err(|error| format!("{}: {error}", case.name))?;
    let Expectation::Output { .. } = &case.expectation else { panic!("{} expects an error", case.name) };
    let call = case.call(plan);
    case.check(&call, &call.expected()).map_err(|error| format!("{}: {error}", case.name))
}

/// Checks that the preset reproduces every case of the batches. Another preset, if one is given, has to fail in some of
/// them: then the cases can tell the two apart.
fn check(batches: &[&str], peer: &str, preset: Preset, other: Option<Preset>) {
    let cases = batches.iter().flat_map(|name| batch(name)).filter(|(_, fields)| fields["peer"] == peer);
    let cases: Vec<(Case, Value)> = cases.collect();
    assert!(!cases.is_empty());
    let failures = |preset| cases.iter().filter_map(move |(case, fields)| reproduces(case, fields, preset).err());
    let complaints: Vec<String> = failures(preset).collect();
    assert!(complaints.is_empty(), "{} of {} cases:\n{}", complaints.len(), cases.len(), complaints.join("\n"));
    if let Some(other) = other {
        assert!(failures(other).next().is_some(), "no case tells the two presets apart");
    }
}

#[test]
fn onnxruntime_max_pool() {
    check(
        &["ort_maxpool", "ort_maxpool_values", "ort_maxpool_quirks", "ort_maxpool_window_in_padding", "large"],
        "onnxruntime",
        Preset::Pool(MaxPool::onnxruntime),
        Some(Preset::Pool(MaxPool::onnx)),
    );
}

#[test]
fn onnxruntime_max_pool_nhwc() {
    let (preset, other) = (Preset::Pool(MaxPool::onnxruntime_nhwc), Preset::Pool(MaxPool::onnxruntime));
    check(&["ort_maxpool_nhwc"], "onnxruntime", preset, Some(other));
}

#[test]
fn pytorch_max_pool() {
    let batches = ["torch_maxpool", "torch_window_in_padding", "large"];
    check(&batches, "torch", Preset::Pool(MaxPool::pytorch), Some(Preset::Pool(MaxPool::onnx)));
}

#[test]
fn openvino_max_pool() {
    check(&["openvino_maxpool"], "openvino", Preset::Pool(MaxPool::openvino), Some(Preset::Pool(MaxPool::onnx)));
}

#[test]
fn tensorflow_argmax() {
    check(&["tf_argmax"], "tensorflow", Preset::Pool(MaxPool::tensorflow), Some(Preset::Pool(MaxPool::onnx)));
}

#[test]
fn onnx_reference_max_pool() {
    check(&["ref_maxpool_bf16"], "onnx.reference", Preset::Pool(MaxPool::onnx), None);
}

#[test]
fn onnx_reference_max_unpool() {
    let (preset, other) = (Preset::Unpool(MaxUnpool::onnx), Preset::Unpool(MaxUnpool::onnx_after_1_23));
    check(&["ref_maxunpool"], "onnx.reference", preset, Some(other));
}

#[test]
fn onnxruntime_max_unpool() {
    let (preset, other) = (Preset::Unpool(MaxUnpool::onnxruntime), Preset::Unpool(MaxUnpool::onnx));
    check(&["ort_maxunpool", "ort_roundtrip"], "onnxruntime", preset, Some(other));
}

#[test]
fn onnxruntime_max_unpool_nhwc() {
    let (preset, other) = (Preset::Unpool(MaxUnpool::onnxruntime_nhwc), Preset::Unpool(MaxUnpool::onnxruntime));
    check(&["ort_maxunpool_nhwc"], "onnxruntime", preset, Some(other));
}

#[test]
fn pytorch_max_unpool() {
    let (preset, other) = (Preset::Unpool(MaxUnpool::pytorch), Preset::Unpool(MaxUnpool::onnx));
    check(&["torch_maxunpool"], "torch", preset, Some(other));
}

#[test]
fn openvino_adaptive() {
    let (preset, other) = (Preset::Adaptive(AdaptiveMaxPool::openvino), Preset::Adaptive(AdaptiveMaxPool::pytorch));
    check(&["openvino_adaptive"], "openvino", preset, Some(other));
}

#[test]
fn pytorch_adaptive() {
    let (preset, other) = (Preset::Adaptive(AdaptiveMaxPool::pytorch), Preset::Adaptive(AdaptiveMaxPool::openvino));
    check(&["torch_adaptive"], "torch", preset, Some(other));
}

#[test]
fn what_a_runtime_refuses_its_preset_refuses() {
    let mut accepted = Vec::new();
    for (case, fields) in batch("errors") {
        let preset = match (fields["op"].as_str().unwrap(), fields["peer"].as_str().unwrap()) {
            ("MaxPool", "onnxruntime") => Preset::Pool(MaxPool::onnxruntime),
            ("MaxPool", "torch") => Preset::Pool(MaxPool::pytorch),
            ("MaxUnpool", "onnxruntime") => Preset::Unpool(MaxUnpool::onnxruntime),
            ("MaxUnpool", "torch") => Preset::Unpool(MaxUnpool::pytorch),
            ("AdaptiveMaxPool", "torch") => Preset::Adaptive(AdaptiveMaxPool::pytorch),
            other => panic!("{other:?}"),
        };
        let refused = match plan(&case, &fields, preset) {
            Err(_) => true,
            Ok(plan) => case.call(plan).expected().is_err(),
        };
        if !refused {
            accepted.push(case.name.trim_start_matches("vectors::errors-").to_owned());
        }
    }
    // Cases that the runtimes refuse and the presets compute, as the presets' documentation says.
    let no_channels = ["0012", "0019", "0059"];
    let four_spatial_axes = ["0050", "0056"];
    let unpool_pads_of_a_kernel = ["0017", "0045"];
    let output_size_beyond_a_stride = ["0011", "0044"];
    let mut expected =
        [&no_channels[..], &four_spatial_axes, &unpool_pads_of_a_kernel, &output_size_beyond_a_stride].concat();
    expected.sort_unstable();
    assert_eq!(accepted, expected);
}
