//! Reads ONNX backend node tests: a model of one node, its inputs and its outputs.

use std::path::{Path, PathBuf};

use prost::Message;
use wgpu_pooling::{Attribute, DType};

use crate::case::{Case, Expectation, Expected, Input};
use crate::compare::NanRule;
use crate::recipe::Recipe;
use crate::tensors::RawTensor;

/// The fields of `onnx.ModelProto` that are needed here. Field numbers are those of `onnx.proto3`.
#[derive(Clone, PartialEq, Message)]
struct ModelProto {
    #[prost(message, optional, tag = "7")]
    graph: Option<GraphProto>,
}

#[derive(Clone, PartialEq, Message)]
struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "11")]
    input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    output: Vec<ValueInfoProto>,
}

#[derive(Clone, PartialEq, Message)]
struct ValueInfoProto {
    #[prost(string, tag = "1")]
    name: String,
}

#[derive(Clone, PartialEq, Message)]
struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    output: Vec<String>,
    #[prost(string, tag = "4")]
    op_type: String,
    #[prost(message, repeated, tag = "5")]
    attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    domain: String,
}

#[derive(Clone, PartialEq, Message)]
struct AttributeProto {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(int64, tag = "3")]
    i: i64,
    #[prost(bytes = "vec", tag = "4")]
    s: Vec<u8>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    floats: Vec<f32>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    ints: Vec<i64>,
    /// `AttributeProto.AttributeType`.
    #[prost(int32, tag = "20")]
    r#type: i32,
}

#[derive(Clone, PartialEq, Message)]
struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    dims: Vec<i64>,
    /// `TensorProto.DataType`.
    #[prost(int32, tag = "2")]
    data_type: i32,
    #[prost(bytes = "vec", tag = "9")]
    raw_data: Vec<u8>,
}

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
        attributes: node.attribute.iter().map(attribute).collect::<Result<_, String>>()?,
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

fn decode<M: Message + Default>(path: &Path) -> Result<M, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    M::decode(&bytes[..]).map_err(|error| format!("{}: {error}", path.display()))
}

fn attribute(given: &AttributeProto) -> Result<(String, Attribute), String> {
    let value = match given.r#type {
        2 => Attribute::Int(given.i),
        3 => Attribute::String(String::from_utf8(given.s.clone()).map_err(|error| error.to_string())?),
        6 => Attribute::Floats(given.floats.clone()),
        7 => Attribute::Ints(given.ints.clone()),
        other => return Err(format!("the attribute {} has the type {other}", given.name)),
    };
    Ok((given.name.clone(), value))
}

/// The tensor; node tests keep their elements in `raw_data`, and any other place fails the check of the length.
fn raw(given: &TensorProto) -> Result<RawTensor, String> {
    let dtype = match given.data_type {
        1 => DType::F32,
        2 => DType::U8,
        3 => DType::I8,
        4 => DType::U16,
        5 => DType::I16,
        6 => DType::I32,
        7 => DType::I64,
        10 => DType::F16,
        11 => DType::F64,
        12 => DType::U32,
        13 => DType::U64,
        16 => DType::Bf16,
        other => return Err(format!("unknown data type {other}")),
    };
    let extent = |&dimension: &i64| usize::try_from(dimension).map_err(|_| format!("an extent of {dimension}"));
    RawTensor::new(dtype, given.dims.iter().map(extent).collect::<Result<_, _>>()?, given.raw_data.clone())
}
