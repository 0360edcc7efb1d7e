//! OpenVINO's IR: layers and edges as XML, and the values of constants in a file of weights.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use roxmltree::{Document, ParsingOptions};
use wgpu_pooling_plan::{Attribute, DType, Node};

use super::budget::Budget;
use super::error::{ModelError, at_most};
use super::files::{self, RegularFile};
use super::node::{ModelInput, ModelNode, Parts, SHAPE, ValueSource, integers, operand};

/// The most elements and texts of a document.
const MAX_XML_NODES: u32 = 1 << 22;
/// The most tags, and the most attributes.
const MAX_TAGS: u64 = 1 << 23;
/// The most declarations of namespaces.
const MAX_NAMESPACES: u64 = 64;
/// The most numbers of an attribute or extents of a shape.
const MAX_NUMBERS: usize = 64;
/// The most bytes of a constant that a plan depends on.
const MAX_CONSTANT: u64 = 512;
/// The most pooling layers.
const MAX_LAYERS: u64 = 1 << 14;
/// The most inputs or outputs of a pooling layer.
const MAX_OPERANDS: usize = 8;
/// The steps of parsing an element or an attribute, and of reading from the weights.
const ELEMENT: u64 = 16;
const ATTRIBUTE: u64 = 8;
const READ: u64 = 1 << 9;

/// Reads a range of the weights.
type Weights<'w> = &'w mut dyn FnMut(Range<u64>) -> Result<Vec<u8>, ModelError>;
type Xml<'a> = roxmltree::Node<'a, 'a>;
/// A port: the number of its layer, and its own.
type Port<'a> = (&'a str, &'a str);

#[derive(Clone, Copy)]
struct Layer<'a> {
    xml: Xml<'a>,
    id: &'a str,
    name: &'a str,
    kind: &'a str,
}

/// The layers and edges of one body. What other layers need of a layer is read once.
struct Body<'a> {
    layers: HashMap<&'a str, Layer<'a>>,
    /// From the port that takes a value to the one that gives it.
    edges: HashMap<Port<'a>, Port<'a>>,
    /// Position and element type of each output of a layer.
    outputs: HashMap<Port<'a>, (usize, Option<DType>)>,
    /// The numbers of the pooling layers among the nodes found.
    pools: HashMap<&'a str, usize>,
    /// The numbers of the model's inputs.
    parameters: HashMap<&'a str, usize>,
    path: Arc<str>,
    budget: &'a Budget,
}

/// The pooling layers of an IR, and what they take.
pub fn read(text: &str, weights: Weights<'_>) -> Result<Parts, ModelError> {
    let budget = Budget::of(text.len());
    check(text, &budget)?;
    let options = ParsingOptions { nodes_limit: MAX_XML_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| ModelError::Ir(error.to_string()))?;
    let net = document.root_element();
    if net.tag_name().name() != "net" {
        return Err(ModelError::Ir(format!("its root is {:?}, expected \"net\"", net.tag_name().name())));
    }
    let mut parts = Parts::default();
    body(net, Arc::from(""), true, &budget, weights, &mut parts)?;
    // Bodies of If, Loop and TensorIterator. Their own bodies are found too, because all descendants are looked at.
    for inner in net.descendants().filter(|node| is_body(*node)) {
        let layer = inner.parent_element().map_or(Ok(""), |layer| budget.attribute(layer, "name"))?;
        let path = format!("{layer}.{}", inner.tag_name().name());
        body(inner, Arc::from(path), false, &budget, weights, &mut parts)?;
    }
    Ok(parts)
}

/// Spends what the parser costs, and refuses texts for which its time or memory grows with the square of their length.
fn check(text: &str, budget: &Budget) -> Result<(), ModelError> {
    // A tag that declares one has those around it compared with each other. What only looks like one counts too.
    let looks_declared = |after: &&str| after.trim_start().starts_with(['=', ':']);
    let namespaces = text.split("xmlns").skip(1).filter(looks_declared).count() as u64;
    at_most("namespaces", namespaces, MAX_NAMESPACES)?;
    let (mut tags, mut all) = (0u64, 0u64);
    for tag in text.split('<') {
        let count = |is: fn(&u8) -> bool| tag.as_bytes().iter().filter(|byte| is(byte)).count() as u64;
        // An attribute has one sign and two quotes, and values may have more. The parser compares each attribute of a
        // tag with each, and with the namespaces.
        let (signs, quotes) = (count(|&byte| byte == b'='), count(|byte| matches!(byte, b'"' | b'\'')));
        let attributes = signs.min(quotes / 2);
        let pairs = attributes.saturating_add(1).saturating_mul(namespaces.saturating_add(attributes / 2));
        budget.spend(attributes.saturating_mul(ATTRIBUTE).saturating_add(pairs).saturating_add(ELEMENT))?;
        (tags, all) = (tags.saturating_add(1), all.saturating_add(signs));
        // The parser takes room for as many beforehand.
        at_most("tags", tags, MAX_TAGS)?;
        at_most("attributes", all, MAX_TAGS)?;
    }
    Ok(())
}

fn is_body(node: Xml<'_>) -> bool {
    matches!(node.tag_name().name(), "body" | "then_body" | "else_body")
}

impl Budget {
    /// The value of an attribute; empty if there is none.
    fn attribute<'a>(&self, node: Xml<'a>, name: &str) -> Result<&'a str, ModelError> {
        let value = node.attribute(name).unwrap_or_default();
        self.spend((node.attributes().len() as u64).saturating_add(1))?;
        self.spend_text(value.as_bytes())?;
        Ok(value)
    }

    /// The children with this name.
    fn children<'a>(&self, node: Xml<'a>, name: &str) -> Result<Vec<Xml<'a>>, ModelError> {
        let mut found = Vec::new();
        for child in node.children() {
            self.spend(2)?;
            found.extend(Some(child).filter(|child| child.tag_name().name() == name));
        }
        Ok(found)
    }

    /// The children called `name` of the first child called `group`.
    fn grouped<'a>(&self, node: Xml<'a>, group: &str, name: &str) -> Result<Vec<Xml<'a>>, ModelError> {
        self.children(node, group)?.first().map_or(Ok(Vec::new()), |group| self.children(*group, name))
    }

    fn port<'a>(&self, edge: Xml<'a>, layer: &str, port: &str) -> Result<Port<'a>, ModelError> {
        Ok((self.attribute(edge, layer)?, self.attribute(edge, port)?))
    }
}

/// Takes the pooling layers of a body.
fn body<'a>(
    net: Xml<'a>,
    path: Arc<str>,
    is_main: bool,
    budget: &'a Budget,
    weights: Weights<'_>,
    parts: &mut Parts,
) -> Result<(), ModelError> {
    let (layers, edges, outputs) = (HashMap::new(), HashMap::new(), HashMap::new());
    let (pools, parameters) = (HashMap::new(), HashMap::new());
    let mut body = Body { layers, edges, outputs, pools, parameters, path, budget };
    let mut found = Vec::new();
    for xml in budget.grouped(net, "layers", "layer")? {
        let (id, name) = (budget.attribute(xml, "id")?, budget.attribute(xml, "name")?);
        let layer = Layer { xml, id, name, kind: budget.attribute(xml, "type")? };
        body.layers.insert(id, layer);
        for (position, port) in budget.grouped(xml, "output", "port")?.into_iter().enumerate() {
            let dtype = dtype(budget.attribute(port, "precision")?);
            budget.look_up(id)?;
            body.outputs.entry((id, budget.attribute(port, "id")?)).or_insert((position, dtype));
        }
        match layer.kind {
            "Parameter" if is_main => {
                body.parameters.insert(id, parts.inputs.len());
                parts.inputs.push(budget.keep(name)?);
            }
            "MaxPool" | "AdaptiveMaxPool" => {
                let before = parts.nodes.len().saturating_add(found.len());
                at_most("pooling layers", (before as u64).saturating_add(1), MAX_LAYERS)?;
                body.pools.insert(id, before);
                found.push(layer);
            }
            _ => {}
        }
    }
    for edge in budget.grouped(net, "edges", "edge")? {
        let from = budget.port(edge, "from-layer", "from-port")?;
        body.edges.insert(budget.port(edge, "to-layer", "to-port")?, from);
    }
    for layer in found {
        parts.nodes.push(body.node(layer, weights)?);
    }
    if is_main {
        body.results(net, parts)?;
    }
    Ok(())
}

impl<'a> Body<'a> {
    /// Takes the model's outputs.
    fn results(&self, net: Xml<'a>, parts: &mut Parts) -> Result<(), ModelError> {
        for layer in self.budget.grouped(net, "layers", "layer")? {
            if self.budget.attribute(layer, "type")? == "Result" {
                let ports = self.budget.grouped(layer, "input", "port")?;
                let port = ports.first().map_or(Ok("0"), |port| self.budget.attribute(*port, "id"))?;
                let source = self.source(self.giver((self.budget.attribute(layer, "id")?, port))?)?;
                parts.outputs.push((self.budget.keep(self.budget.attribute(layer, "name")?)?, source));
            }
        }
        Ok(())
    }

    /// The layer and port that give what a port takes.
    fn giver(&self, taker: Port<'a>) -> Result<Option<(Layer<'a>, Port<'a>)>, ModelError> {
        let Some(&from) = self.edges.get(&taker) else {
            return Ok(None);
        };
        for name in [taker.0, taker.1, from.0, from.1] {
            self.budget.look_up(name)?;
        }
        Ok(self.layers.get(from.0).map(|&layer| (layer, from)))
    }

    fn source(&self, giver: Option<(Layer<'a>, Port<'a>)>) -> Result<ValueSource, ModelError> {
        let Some((layer, from)) = giver else {
            return Ok(ValueSource::Elsewhere(String::new()));
        };
        if let Some(&node) = self.pools.get(layer.id) {
            let output = self.outputs.get(&from).map_or(0, |&(position, _)| position);
            return Ok(ValueSource::Output { node, output });
        }
        Ok(match self.parameters.get(layer.id) {
            Some(&number) => ValueSource::Input(number),
            None => ValueSource::Elsewhere(self.budget.keep(layer.kind)?),
        })
    }

    fn node(&self, layer: Layer<'a>, weights: Weights<'_>) -> Result<ModelNode, ModelError> {
        let budget = self.budget;
        budget.spend_pooling(&self.path)?;
        let mut inputs = Vec::new();
        let ports = budget.grouped(layer.xml, "input", "port")?;
        for (number, &port) in ports.iter().take(MAX_OPERANDS + 1).enumerate() {
            let giver = self.giver((layer.id, budget.attribute(port, "id")?))?;
            let own = dtype(budget.attribute(port, "precision")?);
            let values = match giver {
                Some((giver, _)) if operand(layer.kind, number) == SHAPE => constant(giver, budget, weights)?,
                _ => None,
            };
            inputs.push(ModelInput {
                name: budget.keep(giver.map_or("", |(layer, _)| layer.name))?,
                dtype: own.or_else(|| self.outputs.get(&giver?.1)?.1),
                shape: shape(port, budget)?,
                symbols: Vec::new(),
                values,
                source: self.source(giver)?,
            });
        }
        let mut outputs = Vec::new();
        for &port in budget.grouped(layer.xml, "output", "port")?.iter().take(MAX_OPERANDS + 1) {
            outputs.push(budget.keep(budget.attribute(port, "names")?)?);
        }
        Ok(ModelNode {
            scope: self.path.clone(),
            name: budget.keep(layer.name)?,
            op_type: budget.keep(layer.kind)?,
            domain: "openvino".to_owned(),
            node: Ok(node(layer, budget)?),
            inputs,
            outputs,
        })
    }
}

/// The layer's operator with its attributes. An attribute that is not OpenVINO's stays in the list and is refused by
/// the node.
fn node(layer: Layer<'_>, budget: &Budget) -> Result<Node, ModelError> {
    let (op_type, version) = (layer.kind, budget.attribute(layer.xml, "version")?);
    let opset = version.strip_prefix("opset").and_then(|number| number.parse().ok());
    let opset: i64 = opset.ok_or_else(|| ModelError::Ir(format!("a {op_type} of the version {version:?}")))?;
    let mut node = Node::new(op_type, opset).domain("openvino");
    for attribute in budget.children(layer.xml, "data")?.iter().take(1).flat_map(|data| data.attributes()) {
        let (name, value) = (attribute.name(), attribute.value());
        let value = match name {
            "kernel" | "strides" | "dilations" | "pads_begin" | "pads_end" => Attribute::Ints(numbers(name, value)?),
            "axis" => Attribute::Int(number(name, value)?),
            _ => Attribute::String(budget.keep(value)?),
        };
        node = node.attribute(budget.keep(name)?, value);
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
fn shape(port: Xml<'_>, budget: &Budget) -> Result<Option<Vec<usize>>, ModelError> {
    let extents = budget.children(port, "dim")?.into_iter().take(MAX_NUMBERS);
    Ok(extents.map(|extent| extent.text()?.trim().parse().ok()).collect())
}

/// The element type of a port's precision or of a constant's `element_type`.
fn dtype(name: &str) -> Option<DType> {
    // A longer text is none of these.
    if name.len() > 4 {
        return None;
    }
    match name.to_ascii_lowercase().as_str() {
        "fp64" => Some(DType::F64),
        "fp32" => Some(DType::F32),
        "fp16" => Some(DType::F16),
        name => name.parse().ok(),
    }
}

/// The values of a layer `Const`, if they are a short list of i64 or i32.
fn constant(layer: Layer<'_>, budget: &Budget, weights: Weights<'_>) -> Result<Option<Vec<i64>>, ModelError> {
    let data = budget.children(layer.xml, "data")?;
    let Some(&data) = data.first().filter(|_| layer.kind == "Const") else {
        return Ok(None);
    };
    let whole = |name| {
        let value = number(name, budget.attribute(data, name)?)?;
        u64::try_from(value).map_err(|_| ModelError::Ir(format!("{name} of a constant is {value}")))
    };
    let (offset, size) = (whole("offset")?, whole("size")?);
    at_most("bytes of a constant that a plan depends on", size, MAX_CONSTANT)?;
    budget.spend(READ)?;
    let bytes = weights(offset..offset.saturating_add(size))?;
    Ok(dtype(budget.attribute(data, "element_type")?).and_then(|dtype| integers(dtype, &bytes)))
}

/// A range of weights in memory.
pub fn weights_of_slice(weights: &[u8], range: Range<u64>) -> Result<Vec<u8>, ModelError> {
    let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
    let found = bounds.and_then(|(start, end)| weights.get(start..end));
    found.map(<[u8]>::to_vec).ok_or_else(|| ModelError::Ir(format!("the weights have no bytes {range:?}")))
}

/// A range of a file of weights in the model's folder, which is opened where the first constant is read.
pub fn weights_of_file(
    folder: &Path,
    path: &Path,
    file: &mut Option<RegularFile>,
    range: Range<u64>,
) -> Result<Vec<u8>, ModelError> {
    let read = || {
        if file.is_none() {
            *file = Some(RegularFile::inside(folder, path.file_name().unwrap_or_default().as_ref())?);
        }
        file.as_mut().map_or(Ok(Vec::new()), |file| file.read(range))
    };
    read().map_err(|error| files::failed(path, &error))
}
