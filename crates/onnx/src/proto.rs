//! The messages of `onnx.proto3` as far as pooling nodes need them. They borrow from the file.

use std::cell::Cell;
use std::collections::HashMap;

use wgpu_pooling_plan::{Attribute, DType};

use super::error::{ModelError, at_most};
use super::wire::{Message, push};

/// The most attributes that a node can have.
const MAX_ATTRIBUTES: usize = 64;
/// The most numbers in an attribute of a pooling node.
const MAX_NUMBERS: usize = 256;
/// The most inputs or outputs of a node or a graph, and imports of a model.
const MAX_NAMES: usize = 1 << 16;
/// The most opsets that a model or a function imports.
const MAX_OPSETS: usize = 1 << 10;
/// The most bytes of a `TypeProto`.
const MAX_TYPE: u64 = 1 << 16;
/// The most axes of a tensor.
const MAX_AXES: usize = 64;

/// `ModelProto`.
#[derive(Default)]
pub struct ModelMessage<'a> {
    /// The graph: Protocol Buffers merge a message that is there more than once, so its fields are those of all parts.
    pub graph: Vec<Message<'a>>,
    pub opsets: Vec<(&'a str, i64)>,
    pub functions: Vec<Message<'a>>,
}

/// `NodeProto`.
#[derive(Default)]
pub struct NodeMessage<'a> {
    pub name: &'a str,
    pub op_type: &'a str,
    pub domain: &'a str,
    pub overload: &'a str,
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    pub attributes: Vec<Message<'a>>,
}

/// `AttributeProto`: its value, or its tensor.
pub struct AttributeMessage<'a> {
    pub tensor: Option<Message<'a>>,
    pub value: Attribute,
}

/// `FunctionProto`.
#[derive(Default)]
pub struct FunctionMessage<'a> {
    pub name: &'a str,
    pub domain: &'a str,
    pub overload: &'a str,
    pub inputs: Vec<&'a str>,
    pub outputs: Vec<&'a str>,
    pub opsets: Vec<(&'a str, i64)>,
    /// The attributes that have defaults.
    pub defaults: Vec<Message<'a>>,
}

/// Which numbers the fields of nodes and of value infos have: graphs and functions differ.
#[derive(Clone, Copy)]
pub struct BodyFields {
    pub node: u64,
    pub value_infos: [u64; 3],
    pub initializer: Option<u64>,
}

/// The fields of `GraphProto`.
pub const GRAPH: BodyFields = BodyFields { node: 1, value_infos: [11, 12, 13], initializer: Some(5) };
/// The fields of `FunctionProto`.
pub const FUNCTION: BodyFields = BodyFields { node: 7, value_infos: [12; 3], initializer: None };

/// What `TypeProto` says of a tensor: the number in `TensorProto.DataType`, and the extents where all of them are
/// known.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct TypeOf<'a> {
    pub number: Option<i64>,
    pub shape: Option<Vec<usize>>,
    /// The names of extents that have no size.
    pub symbols: Vec<&'a str>,
}

/// Sizes of extents by their names, and whether an extent has been met that takes them.
pub type NamedSizes<'s> = HashMap<&'s str, (usize, Cell<bool>)>;

impl<'a> ModelMessage<'a> {
    pub fn read(message: Message<'a>) -> Result<Self, ModelError> {
        let mut model = ModelMessage::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                7 => push(&mut model.graph, field.message()?, "parts of a graph", MAX_NAMES)?,
                8 => push(&mut model.opsets, opset(field.message()?)?, "imported opsets", MAX_OPSETS)?,
                25 => push(&mut model.functions, field.message()?, "functions", MAX_NAMES)?,
                _ => {}
            }
        }
        Ok(model)
    }
}

fn opset(message: Message<'_>) -> Result<(&str, i64), ModelError> {
    let mut opset = ("", 0);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => opset.0 = field.text()?,
            2 => opset.1 = field.int()?,
            _ => {}
        }
    }
    Ok(opset)
}

impl<'a> NodeMessage<'a> {
    pub fn read(message: Message<'a>) -> Result<Self, ModelError> {
        let mut node = NodeMessage::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => push(&mut node.inputs, field.text()?, "inputs of a node", MAX_NAMES)?,
                2 => push(&mut node.outputs, field.text()?, "outputs of a node", MAX_NAMES)?,
                3 => node.name = field.text()?,
                4 => node.op_type = field.text()?,
                5 => push(&mut node.attributes, field.message()?, "attributes of a node", MAX_NAMES)?,
                7 => node.domain = field.text()?,
                8 => node.overload = field.text()?,
                _ => {}
            }
        }
        Ok(node)
    }

    /// The attributes of a pooling node: names and messages.
    pub fn pooling_attributes(&self) -> Result<Vec<(&'a str, Message<'a>)>, ModelError> {
        let mut attributes = Vec::new();
        for &message in &self.attributes {
            let attribute = (AttributeMessage::name(message)?, message);
            push(&mut attributes, attribute, "attributes of a node", MAX_ATTRIBUTES)?;
        }
        Ok(attributes)
    }
}

impl<'a> AttributeMessage<'a> {
    /// The attribute. Its kind is `type`, or in files of the first version of the format the field that is set.
    pub fn read(message: Message<'a>) -> Result<Self, ModelError> {
        let (mut kind, mut set, mut number, mut text, mut tensor) = (0, 0, 0, None, None);
        let (mut floats, mut ints) = (Vec::new(), Vec::new());
        for field in message.fields() {
            let field = field?;
            match field.number {
                3 => (number, set) = (field.int()?, 2),
                4 => (text, set) = (Some(field.message()?), 3),
                5 => (tensor, set) = (Some(field.message()?), 4),
                7 => {
                    set = 6;
                    field.each_fixed(|bytes| push(&mut floats, f32::from_le_bytes(bytes), "floats", MAX_NUMBERS))?;
                }
                8 => {
                    set = 7;
                    field.ints(&mut ints, "integers of an attribute", MAX_NUMBERS)?;
                }
                20 => kind = field.int()?,
                _ => {}
            }
        }
        let text = || match text {
            Some(text) if text.bytes.len() <= MAX_NUMBERS => {
                std::str::from_utf8(text.bytes).map_or(Attribute::Other, |text| Attribute::String(text.to_owned()))
            }
            Some(_) => Attribute::Other,
            None => Attribute::String(String::new()),
        };
        let value = match if kind == 0 { set } else { kind } {
            2 => Attribute::Int(number),
            3 => text(),
            6 => Attribute::Floats(floats),
            7 => Attribute::Ints(ints),
            _ => Attribute::Other,
        };
        Ok(AttributeMessage { tensor, value })
    }

    /// The attribute of the calling node from which this attribute of a function's body takes its value, if it does.
    pub fn refers_to(message: Message<'a>) -> Result<Option<&'a str>, ModelError> {
        Ok(Some(last_text(message, 21)?).filter(|name| !name.is_empty()))
    }

    /// The graphs inside an attribute. Its numbers, which may be many, are not read.
    pub fn graphs(message: Message<'a>) -> Result<Vec<Message<'a>>, ModelError> {
        let mut graphs = Vec::new();
        for field in message.fields() {
            let field = field?;
            if matches!(field.number, 6 | 11) {
                push(&mut graphs, field.message()?, "graphs of an attribute", MAX_NAMES)?;
            }
        }
        Ok(graphs)
    }

    /// The attribute's name alone.
    pub fn name(message: Message<'a>) -> Result<&'a str, ModelError> {
        last_text(message, 1)
    }
}

/// The last text of a field, or the empty one.
fn last_text(message: Message<'_>, number: u64) -> Result<&str, ModelError> {
    let mut text = "";
    for field in message.numbered(number) {
        text = field?.text()?;
    }
    Ok(text)
}

impl<'a> FunctionMessage<'a> {
    pub fn read(message: Message<'a>) -> Result<Self, ModelError> {
        let mut function = FunctionMessage::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => function.name = field.text()?,
                4 => push(&mut function.inputs, field.text()?, "inputs of a function", MAX_NAMES)?,
                5 => push(&mut function.outputs, field.text()?, "outputs of a function", MAX_NAMES)?,
                9 => push(&mut function.opsets, opset(field.message()?)?, "imported opsets", MAX_OPSETS)?,
                10 => function.domain = field.text()?,
                11 => push(&mut function.defaults, field.message()?, "attributes of a function", MAX_NAMES)?,
                13 => function.overload = field.text()?,
                _ => {}
            }
        }
        Ok(function)
    }
}

/// A `ValueInfoProto`: the value's name, and the message of its type.
pub fn value_info(message: Message<'_>) -> Result<(&str, Message<'_>), ModelError> {
    let mut value = ("", Message::default());
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => value.0 = field.text()?,
            2 => value.1 = field.message()?,
            _ => {}
        }
    }
    Ok(value)
}

impl<'a> TypeOf<'a> {
    /// Reads a `TypeProto`.
    pub fn read(message: Message<'a>, sizes: &NamedSizes<'_>) -> Result<Self, ModelError> {
        at_most("bytes of a type", message.bytes.len() as u64, MAX_TYPE)?;
        let mut found = TypeOf::default();
        for field in message.numbered(1) {
            for field in field?.message()?.fields() {
                let field = field?;
                match field.number {
                    1 => found.number = Some(field.int()?),
                    2 => (found.shape, found.symbols) = shape(field.message()?, sizes)?,
                    _ => {}
                }
            }
        }
        Ok(found)
    }

    /// The element type, if it is one of this crate's.
    pub fn dtype(&self) -> Option<DType> {
        self.number.and_then(|number| dtype(number).ok())
    }
}

/// The extents of a `TensorShapeProto`, if all of them are known, and the names of those without a size.
fn shape<'a>(message: Message<'a>, sizes: &NamedSizes<'_>) -> Result<(Option<Vec<usize>>, Vec<&'a str>), ModelError> {
    let (mut shape, mut symbols) = (Some(Vec::new()), Vec::new());
    for dimension in message.numbered(1) {
        let (mut extent, mut symbol) = (None, "");
        for field in dimension?.message()?.fields() {
            let field = field?;
            match field.number {
                1 => (extent, symbol) = (usize::try_from(field.int()?).ok(), ""),
                2 => (extent, symbol) = (None, field.text()?),
                _ => {}
            }
        }
        match sizes.get(symbol) {
            _ if symbol.is_empty() || symbols.contains(&symbol) => {}
            Some((size, taken)) => {
                extent = Some(*size);
                taken.set(true);
            }
            None => push(&mut symbols, symbol, "axes of a tensor", MAX_AXES)?,
        }
        match (&mut shape, extent) {
            (Some(shape), Some(extent)) => push(shape, extent, "axes of a tensor", MAX_AXES)?,
            _ => shape = None,
        }
    }
    Ok((shape, symbols))
}

/// The element type of a number in `TensorProto.DataType`.
pub fn dtype(number: i64) -> Result<DType, ModelError> {
    i32::try_from(number).ok().and_then(DType::from_onnx).ok_or(ModelError::ElementType { number })
}

/// A `TensorProto`, with its elements where they lie.
#[derive(Default, Clone)]
pub struct TensorMessage<'a> {
    pub name: &'a str,
    pub number: i64,
    pub extents: Vec<i64>,
    pub raw: Option<Message<'a>>,
    pub external: Vec<Message<'a>>,
    pub is_external: bool,
    /// The message itself, whose lists of numbers are read when they are asked for.
    pub message: Message<'a>,
}

impl<'a> TensorMessage<'a> {
    pub fn read(message: Message<'a>) -> Result<Self, ModelError> {
        let mut tensor = TensorMessage { message, ..TensorMessage::default() };
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => field.ints(&mut tensor.extents, "axes of a tensor", MAX_AXES)?,
                2 => tensor.number = field.int()?,
                8 => tensor.name = field.text()?,
                9 => tensor.raw = Some(field.message()?),
                13 => push(&mut tensor.external, field.message()?, "entries of external data", MAX_AXES)?,
                14 => tensor.is_external = field.int()? == 1,
                _ => {}
            }
        }
        Ok(tensor)
    }

    /// The name alone, because the tensor may not be needed.
    pub fn name(message: Message<'a>) -> Result<&'a str, ModelError> {
        last_text(message, 8)
    }

    /// The extents, if none is negative.
    pub fn shape(&self) -> Option<Vec<usize>> {
        self.extents.iter().map(|&extent| usize::try_from(extent).ok()).collect()
    }

    /// Key and value of each entry of external data.
    pub fn entries(&self) -> impl Iterator<Item = Result<(&'a str, &'a str), ModelError>> {
        self.external.iter().map(|&entry| Ok((last_text(entry, 1)?, last_text(entry, 2)?)))
    }
}
