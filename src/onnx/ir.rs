//! OpenVINO's IR: layers and edges as XML, and the values of constants in a file of weights.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use roxmltree::{Document, ParsingOptions};

use super::error::{ModelError, at_most};
use super::node::{ModelInput, ModelNode, Parts, SHAPE, ValueSource, operand};
use crate::attributes::Attribute;
use crate::element::DType;
use crate::ops::Node;

/// The most elements, texts and attributes of a document.
const MAX_XML_NODES: u32 = 1 << 22;
/// The most numbers of an attribute or extents of a shape.
const MAX_NUMBERS: usize = 64;
/// The most bytes of a constant that a plan depends on.
const MAX_CONSTANT: u64 = 512;
/// The most pooling layers.
const MAX_LAYERS: u64 = 1 << 14;
/// The most pairs of attributes of one element, of all elements: the parser compares each attribute with each.
const MAX_PAIRS: u64 = 1 << 30;
/// How many children of a layer are looked at, texts between them included, and how many of its ports.
const MAX_CHILDREN: usize = 64;
const MAX_PORTS: usize = 1 << 12;
/// The most inputs or outputs of a pooling layer.
const MAX_OPERANDS: usize = 8;

/// Reads a range of the weights.
type Weights<'w> = &'w mut dyn FnMut(Range<u64>) -> Result<Vec<u8>, ModelError>;
type Xml<'a> = roxmltree::Node<'a, 'a>;
/// A port: the number of its layer, and its own.
type Port<'a> = (&'a str, &'a str);

/// The layers and edges of one body.
struct Body<'a> {
    layers: HashMap<&'a str, Xml<'a>>,
    /// From the port that takes a value to the one that gives it.
    edges: HashMap<Port<'a>, Port<'a>>,
    /// The numbers of the pooling layers among the nodes found.
    pools: HashMap<&'a str, usize>,
    path: Arc<str>,
    is_main: bool,
}

/// The pooling layers of an IR, and what they take.
pub fn read(text: &str, weights: Weights<'_>) -> Result<Parts, ModelError> {
    check(text)?;
    let options = ParsingOptions { nodes_limit: MAX_XML_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| ModelError::Ir(error.to_string()))?;
    let net = document.root_element();
    if net.tag_name().name() != "net" {
        return Err(ModelError::Ir(format!("its root is {:?}, expected \"net\"", net.tag_name().name())));
    }
    let mut parts = Parts::default();
    body(net, Arc::from(""), true, weights, &mut parts)?;
    // Bodies of If, Loop and TensorIterator. Their own bodies are found too, because all descendants are looked at.
    for inner in net.descendants().filter(|node| is_body(*node)) {
        let layer = inner.parent_element().and_then(|layer| layer.attribute("name")).unwrap_or_default();
        let path = format!("{layer}.{}", inner.tag_name().name());
        body(inner, Arc::from(path), false, weights, &mut parts)?;
    }
    Ok(parts)
}

/// Refuses texts for which the parser's time or memory grows with the square of their length.
fn check(text: &str) -> Result<(), ModelError> {
    if text.contains("xmlns") {
        return Err(ModelError::Ir("it has namespaces".to_owned()));
    }
    let mut pairs = 0u64;
    for element in text.split('<') {
        // Each attribute has two quotes.
        let quotes = element.bytes().filter(|byte| matches!(byte, b'"' | b'\'')).count() as u64;
        pairs = pairs.saturating_add((quotes / 2).saturating_mul(quotes / 2));
    }
    at_most("pairs of attributes", pairs, MAX_PAIRS)
}

fn is_body(node: Xml<'_>) -> bool {
    matches!(node.tag_name().name(), "body" | "then_body" | "else_body")
}

fn children<'a>(node: Xml<'a>, group: &'a str, name: &'a str) -> impl Iterator<Item = Xml<'a>> {
    let group = node.children().take(MAX_CHILDREN).find(move |child| child.tag_name().name() == group);
    let children = group.map(|group| group.children()).into_iter().flatten();
    children.filter(move |child| child.tag_name().name() == name)
}

fn body<'a>(
    net: Xml<'a>,
    path: Arc<str>,
    is_main: bool,
    weights: Weights<'_>,
    parts: &mut Parts,
) -> Result<(), ModelError> {
    let text = |node: Xml<'a>, name| node.attribute(name).unwrap_or_default();
    let mut body = Body { layers: HashMap::new(), edges: HashMap::new(), pools: HashMap::new(), path, is_main };
    for layer in children(net, "layers", "layer") {
        let id = text(layer, "id");
        body.layers.insert(id, layer);
        match text(layer, "type") {
            "Parameter" if is_main => parts.inputs.push(text(layer, "name").to_owned()),
            "MaxPool" | "AdaptiveMaxPool" => {
                body.pools.insert(id, parts.nodes.len().saturating_add(body.pools.len()));
            }
            _ => {}
        }
    }
    for edge in children(net, "edges", "edge") {
        let from = (text(edge, "from-layer"), text(edge, "from-port"));
        body.edges.insert((text(edge, "to-layer"), text(edge, "to-port")), from);
    }
    at_most("pooling layers", parts.nodes.len().saturating_add(body.pools.len()) as u64, MAX_LAYERS)?;
    let parameters = parameters(net);
    for layer in children(net, "layers", "layer") {
        match text(layer, "type") {
            "MaxPool" | "AdaptiveMaxPool" => parts.nodes.push(body.node(layer, &parameters, weights)?),
            "Result" if is_main => {
                let port = ports(layer, "input").next().map_or("0", |port| text(port, "id"));
                let source = body.source((text(layer, "id"), port), &parameters);
                parts.outputs.push((text(layer, "name").to_owned(), source));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The numbers of the parameters by the numbers of their layers.
fn parameters(net: Xml<'_>) -> HashMap<&str, usize> {
    let layers = children(net, "layers", "layer").filter(|layer| layer.attribute("type") == Some("Parameter"));
    layers.filter_map(|layer| layer.attribute("id")).zip(0..).collect()
}

fn ports<'a>(layer: Xml<'a>, direction: &'a str) -> impl Iterator<Item = Xml<'a>> {
    children(layer, direction, "port").take(MAX_PORTS)
}

impl<'a> Body<'a> {
    /// The layer and port that give what a port takes.
    fn giver(&self, taker: Port<'a>) -> Option<(Xml<'a>, Port<'a>)> {
        let &from = self.edges.get(&taker)?;
        Some((*self.layers.get(from.0)?, from))
    }

    fn source(&self, taker: Port<'a>, parameters: &HashMap<&str, usize>) -> ValueSource {
        let Some((layer, (id, port))) = self.giver(taker) else {
            return ValueSource::Elsewhere(String::new());
        };
        if let Some(&node) = self.pools.get(id) {
            let output = ports(layer, "output").position(|own| own.attribute("id") == Some(port));
            return ValueSource::Output { node, output: output.unwrap_or(0) };
        }
        match parameters.get(id).filter(|_| self.is_main) {
            Some(&number) => ValueSource::Input(number),
            None => ValueSource::Elsewhere(layer.attribute("type").unwrap_or_default().to_owned()),
        }
    }

    fn node(
        &self,
        layer: Xml<'a>,
        parameters: &HashMap<&str, usize>,
        weights: Weights<'_>,
    ) -> Result<ModelNode, ModelError> {
        let text = |name| layer.attribute(name).unwrap_or_default();
        let op_type = text("type");
        let mut inputs = Vec::new();
        for (number, port) in ports(layer, "input").take(MAX_OPERANDS + 1).enumerate() {
            let taker = (text("id"), port.attribute("id").unwrap_or_default());
            let giver = self.giver(taker);
            let name = giver.and_then(|(layer, _)| layer.attribute("name")).unwrap_or_default();
            let precision = port.attribute("precision").or_else(|| {
                giver.and_then(|(layer, from)| {
                    ports(layer, "output").find(|port| port.attribute("id") == Some(from.1))?.attribute("precision")
                })
            });
            let values = match giver {
                Some((layer, _)) if operand(op_type, number) == SHAPE => constant(layer, weights)?,
                _ => None,
            };
            inputs.push(ModelInput {
                name: name.to_owned(),
                dtype: precision.and_then(dtype),
                shape: shape(port),
                values,
                source: self.source(taker, parameters),
            });
        }
        let outputs =
            ports(layer, "output").take(MAX_OPERANDS + 1).map(|port| port.attribute("names").unwrap_or_default());
        Ok(ModelNode {
            scope: self.path.clone(),
            name: text("name").to_owned(),
            op_type: op_type.to_owned(),
            domain: "openvino".to_owned(),
            node: node(layer, op_type),
            inputs,
            outputs: outputs.map(str::to_owned).collect(),
        })
    }
}

/// The layer's operator with its attributes. An attribute that is not OpenVINO's stays in the list and is refused by the node.
fn node(layer: Xml<'_>, op_type: &str) -> Result<Node, ModelError> {
    let version = layer.attribute("version").unwrap_or_default();
    let opset = version.strip_prefix("opset").and_then(|number| number.parse().ok());
    let opset: i64 = opset.ok_or_else(|| ModelError::Ir(format!("a {op_type} of the version {version:?}")))?;
    let mut node = Node::new(op_type, opset).domain("openvino");
    let data = layer.children().take(MAX_CHILDREN).find(|child| child.tag_name().name() == "data");
    for attribute in data.iter().flat_map(|data| data.attributes()) {
        let (name, value) = (attribute.name(), attribute.value());
        let value = match name {
            "kernel" | "strides" | "dilations" | "pads_begin" | "pads_end" => Attribute::Ints(numbers(name, value)?),
            "axis" => Attribute::Int(number(name, value)?),
            _ => Attribute::String(value.to_owned()),
        };
        node = node.attribute(name, value);
    }
    Ok(node)
}

fn number(name: &str, text: &str) -> Result<i64, ModelError> {
    let wrong = |_| ModelError::Ir(format!("{name}: {:?} is no number", text.chars().take(100).collect::<String>()));
    text.trim().parse().map_err(wrong)
}

/// Numbers separated by commas.
fn numbers(name: &str, text: &str) -> Result<Vec<i64>, ModelError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let numbers: Vec<i64> =
        text.split(',').take(MAX_NUMBERS).map(|text| number(name, text)).collect::<Result<_, _>>()?;
    let found = text.split(',').count() as u64;
    at_most("numbers of an attribute", found, MAX_NUMBERS as u64)?;
    Ok(numbers)
}

/// The extents of a port, if all of them are known; a dynamic one is -1.
fn shape(port: Xml<'_>) -> Option<Vec<usize>> {
    let extents = port.children().filter(|child| child.tag_name().name() == "dim").take(MAX_NUMBERS);
    extents.map(|extent| extent.text()?.trim().parse().ok()).collect()
}

/// The element type of a port's precision or of a constant's `element_type`.
fn dtype(name: &str) -> Option<DType> {
    Some(match name.to_ascii_lowercase().as_str() {
        "fp32" | "f32" => DType::F32,
        "fp16" | "f16" => DType::F16,
        "bf16" => DType::Bf16,
        "fp64" | "f64" => DType::F64,
        "i8" => DType::I8,
        "u8" => DType::U8,
        "i16" => DType::I16,
        "u16" => DType::U16,
        "i32" => DType::I32,
        "u32" => DType::U32,
        "i64" => DType::I64,
        "u64" => DType::U64,
        _ => return None,
    })
}

/// The values of a layer `Const`, if they are a short list of i64 or i32.
fn constant(layer: Xml<'_>, weights: Weights<'_>) -> Result<Option<Vec<i64>>, ModelError> {
    let data = layer.children().take(MAX_CHILDREN).find(|child| child.tag_name().name() == "data");
    let Some(data) = data.filter(|_| layer.attribute("type") == Some("Const")) else {
        return Ok(None);
    };
    let whole = |name| {
        let value = number(name, data.attribute(name).unwrap_or_default())?;
        u64::try_from(value).map_err(|_| ModelError::Ir(format!("{name} of a constant is {value}")))
    };
    let (offset, size) = (whole("offset")?, whole("size")?);
    at_most("bytes of a constant that a plan depends on", size, MAX_CONSTANT)?;
    let bytes = weights(offset..offset.saturating_add(size))?;
    Ok(match data.attribute("element_type").and_then(dtype) {
        Some(DType::I64) => Some(bytes.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()),
        Some(DType::I32) => Some(bytes.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes).into()).collect()),
        _ => None,
    })
}

/// A range of weights in memory.
pub fn weights_of_slice(weights: &[u8], range: Range<u64>) -> Result<Vec<u8>, ModelError> {
    let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    let found = bounds.and_then(|(start, end)| weights.get(start..end));
    found.map(<[u8]>::to_vec).ok_or_else(|| ModelError::Ir(format!("the weights have no bytes {range:?}")))
}

/// A range of a file of weights.
pub fn weights_of_file(path: &Path, range: Range<u64>) -> Result<Vec<u8>, ModelError> {
    let failed =
        |error: std::io::Error| ModelError::File { path: path.display().to_string(), reason: error.to_string() };
    let mut file = File::open(path).map_err(failed)?;
    file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
    let mut bytes = Vec::new();
    let length = range.end.saturating_sub(range.start);
    file.take(length).read_to_end(&mut bytes).map_err(failed)?;
    weights_of_slice(&bytes, 0..length)
}
