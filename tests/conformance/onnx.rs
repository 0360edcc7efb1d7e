//! Reads ONNX backend node tests: a model of one node, its inputs and its outputs.

use std::path::{Path, PathBuf};

use crate::case::{Case, Expectation, Expected, Input};
use crate::compare::NanRule;
use crate::messages::{ModelProto, TensorProto, ValueInfoProto, decode};
use crate::recipe::Recipe;
use crate::tensors::RawTensor;

/// The directories below this one that hold a `model.onnx`, in the order of their names.
pub fn node_tests(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))? {
        let path = entry.map_err(|error| format!("{}: {error}", directory.display()))?.path();
        if path.join("model.onnx").is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// The case of one node test. No option is set: the examples of the operator pages hold by default.
pub fn read(directory: &Path) -> Result<Case, String> {
    read_case(directory).map_err(|error| format!("{}: {error}", directory.display()))
}

fn read_case(directory: &Path) -> Result<Case, String> {
    let id = directory.file_name().and_then(|name| name.to_str()).ok_or("the directory's name is not UTF-8")?;
    let graph = decode::<ModelProto>(&directory.join("model.onnx"))?.graph.ok_or("the model has no graph")?;
    let [node] = &graph.node[..] else {
        return Err(format!("the graph has {} nodes, expected one", graph.node.len()));
    };
    if !node.domain.is_empty() {
        return Err(format!("unknown domain {:?}", node.domain));
    }
    let data = directory.join("test_data_set_0");
    let tensor = |kind: &str, values: &[ValueInfoProto], name: Option<&String>| {
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let position = values.iter().position(|value| &value.name == name);
        let position = position.ok_or_else(|| format!("the node's {name} is not among the graph's {kind}s"))?;
        raw(&decode::<TensorProto>(&data.join(format!("{kind}_{position}.pb")))?).map(Some)
    };
    let input = |position: usize| tensor("input", &graph.input, node.input.get(position));
    let output = |position: usize| tensor("output", &graph.output, node.output.get(position));
    let recipe = Recipe {
        operator: node.op_type.clone(),
        attributes: node.attribute.iter().map(|attribute| attribute.read()).collect::<Result<_, String>>()?,
        options: Vec::new(),
        output_shape: input(2)?.map(|tensor| tensor.elements::<i64>()),
    };
    Ok(Case {
        name: format!("onnx::{id}"),
        recipe,
        x: Input::Stored(input(0)?.ok_or("the node has no input")?),
        indices: input(1)?,
        expectation: Expectation::Output {
            y: Expected::Stored(output(0)?.ok_or("the node has no output")?),
            indices: output(1)?.map(Expected::Stored),
        },
        specialised: false,
        nan: NanRule::Any,
    })
}

/// The tensor; node tests keep their elements in `raw_data`, and any other place fails the check of the length.
fn raw(given: &TensorProto) -> Result<RawTensor, String> {
    RawTensor::new(given.dtype()?, given.shape()?, given.raw_data.clone())
}
