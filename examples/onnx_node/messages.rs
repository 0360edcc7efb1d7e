//! The messages of ONNX files that are needed here. Field numbers are those of `onnx.proto3`.

use std::path::Path;

use prost::Message;
use wgpu_pooling::{Attribute, DType};

#[derive(Clone, PartialEq, Message)]
pub struct ModelProto {
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphProto>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSetIdProto>,
}

#[derive(Clone, PartialEq, Message)]
pub struct OperatorSetIdProto {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

#[derive(Clone, PartialEq, Message)]
pub struct GraphProto {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<NodeProto>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfoProto>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfoProto>,
}

#[derive(Clone, PartialEq, Message)]
pub struct ValueInfoProto {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct NodeProto {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<AttributeProto>,
    #[prost(string, tag = "7")]
    pub domain: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct AttributeProto {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(int64, tag = "3")]
    pub i: i64,
    #[prost(bytes = "vec", tag = "4")]
    pub s: Vec<u8>,
    #[prost(float, repeated, packed = "false", tag = "7")]
    pub floats: Vec<f32>,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    /// `AttributeProto.AttributeType`.
    #[prost(int32, tag = "20")]
    pub r#type: i32,
}

/// A tensor whose elements are in `raw_data`, as those of node tests are.
#[derive(Clone, PartialEq, Message)]
pub struct TensorProto {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    /// `TensorProto.DataType`.
    #[prost(int32, tag = "2")]
    pub data_type: i32,
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
}

/// The message of a file.
pub fn decode<M: Message + Default>(path: &Path) -> Result<M, String> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    M::decode(&bytes[..]).map_err(|error| format!("{}: {error}", path.display()))
}

impl AttributeProto {
    /// The attribute's name and value.
    pub fn read(&self) -> Result<(String, Attribute), String> {
        let value = match self.r#type {
            2 => Attribute::Int(self.i),
            3 => Attribute::String(String::from_utf8(self.s.clone()).map_err(|error| error.to_string())?),
            6 => Attribute::Floats(self.floats.clone()),
            7 => Attribute::Ints(self.ints.clone()),
            _ => Attribute::Other,
        };
        Ok((self.name.clone(), value))
    }
}

impl TensorProto {
    /// The element type.
    pub fn dtype(&self) -> Result<DType, String> {
        Ok(match self.data_type {
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
        })
    }

    /// The extents.
    pub fn shape(&self) -> Result<Vec<usize>, String> {
        let extent = |&extent: &i64| usize::try_from(extent).map_err(|_| format!("an extent of {extent}"));
        self.dims.iter().map(extent).collect()
    }
}
