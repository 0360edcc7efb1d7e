//! Reads ONNX backend node tests: a model of one node, its inputs and its outputs.

use std::path::{Path, PathBuf};

use support::vectors::case::{Case, Expectation, Expected, Input};
use support::vectors::compare::NanRule;
use support::vectors::recipe::Recipe;
use support::vectors::tensors::RawTensor;
use wgpu_pooling::onnx::{FileTensor, Model, ValueSource};

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
    let model = Model::open(&directory.join("model.onnx")).map_err(|error| error.to_string())?;
    let [node] = model.nodes() else {
        return Err(format!("the model has {} pooling nodes, expected one", model.nodes().len()));
    };
    if !node.domain().is_empty() {
        return Err(format!("unknown domain {:?}", node.domain()));
    }
    let data = directory.join("test_data_set_0");
    let input = |position: usize| match node.inputs().get(position).map(|input| &input.source) {
        None => Ok(None),
        Some(ValueSource::Input(number)) => raw(&data.join(format!("input_{number}.pb"))).map(Some),
        Some(other) => Err(format!("input {position} of the node is {other:?}, not an input of the model")),
    };
    let output = |output: usize| {
        let wanted = ValueSource::Output { node: 0, output };
        let number = model.outputs().iter().position(|(_, source)| *source == wanted);
        number.map(|number| raw(&data.join(format!("output_{number}.pb")))).transpose()
    };
    let recipe = Recipe {
        operator: node.op_type().to_owned(),
        attributes: node.node().map_err(|error| error.to_string())?.attribute_values().to_vec(),
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

/// The tensor of a file.
fn raw(path: &Path) -> Result<RawTensor, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| failed(&error))?;
    let tensor = FileTensor::read(&bytes).map_err(|error| failed(&error))?;
    RawTensor::new(tensor.dtype(), tensor.shape().to_vec(), tensor.bytes().to_vec())
}
