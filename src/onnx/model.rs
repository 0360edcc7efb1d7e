//! A model: its pooling nodes, and where the values come from that they take.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{ModelError, at_most};
use super::external::ExternalData;
use super::proto::TensorMessage;
use super::tensor::{FileTensor, kind};
use super::wire::Message;
use super::{ir, walk};
use crate::element::DType;
use crate::ops::{Node, NodeInput};
use crate::options::Preset;
use crate::plan::Plan;

/// The most bytes of a model's file: what Protocol Buffers allow.
const MAX_FILE: u64 = (1 << 31) - 1;
/// The most bytes of the text of an OpenVINO IR.
pub(super) const MAX_TEXT: u64 = 1 << 28;

/// A model and its pooling nodes, those inside graphs of `If`, `Loop` and `Scan` and inside functions too.
///
/// Of an ONNX file only what the pooling nodes need is read; the rest, such as the weights, is skipped where it lies. The reader
/// takes files from strangers: errors are typed, memory is bounded by a multiple of the file's length and by fixed limits, and so are nesting and
/// the expansion of functions.
///
/// ```no_run
/// use wgpu_pooling::{Preset, onnx::Model};
///
/// let model = Model::open("model.onnx".as_ref())?;
/// for node in model.nodes() {
///     println!("{} {}: {:?}", node.op_type(), node.name(), node.plan(Preset::Onnx));
/// }
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Model {
    /// The ONNX file; empty for an IR.
    bytes: Vec<u8>,
    /// Where external data lie.
    folder: Option<PathBuf>,
    parts: Parts,
}

/// What is read of a model.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Parts {
    pub nodes: Vec<ModelNode>,
    /// The names of the inputs that the caller gives.
    pub inputs: Vec<String>,
    pub outputs: Vec<(String, Source)>,
    pub constants: Vec<Constant>,
}

/// A tensor of the model that a pooling node takes.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    /// A `TensorProto` in the file.
    Message(Range<usize>),
    Integers(Vec<i64>),
}

/// Where a value of a model comes from.
///
/// ```
/// use wgpu_pooling::onnx::{Model, Source};
///
/// // A model whose one node pools the model's input.
/// let model = Model::open("tests/onnx-node-tests/test_maxpool_1d_default/model.onnx".as_ref())?;
/// assert_eq!(model.nodes()[0].inputs()[0].source, Source::Input(0));
/// assert_eq!(model.outputs(), [("y".to_owned(), Source::Output { node: 0, output: 0 })]);
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Source {
    /// The model's input of this number, of those that no initializer gives.
    Input(usize),
    /// A tensor of the model: [`Model::constant`].
    Constant(usize),
    /// An output of a pooling node: the node's number in [`Model::nodes`], and the output's.
    Output {
        /// The node's number.
        node: usize,
        /// The output's number.
        output: usize,
    },
    /// An operator that this crate does not have: its type. Empty if nothing in the model gives the value.
    Elsewhere(String),
}

/// An input of a pooling node.
///
/// ```
/// use wgpu_pooling::{DType, onnx::Model};
///
/// let model = Model::open("tests/onnx-node-tests/test_maxpool_1d_default/model.onnx".as_ref())?;
/// let x = &model.nodes()[0].inputs()[0];
/// assert_eq!((&x.name[..], x.dtype, &x.shape), ("x", Some(DType::F32), &Some(vec![1, 3, 32])));
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelInput {
    /// The value's name where the node is.
    pub name: String,
    /// The element type, if the model says it and it is one of this crate's.
    pub dtype: Option<DType>,
    /// The extents, if the model says all of them.
    pub shape: Option<Vec<usize>>,
    /// The values of an input that the plan depends on, if the model has them.
    pub values: Option<Vec<i64>>,
    /// Where the value comes from.
    pub source: Source,
}

/// A pooling node of a model. A node in the body of a function is there once for each call of the function.
///
/// ```
/// use wgpu_pooling::{Preset, onnx::Model};
///
/// let model = Model::open("tests/onnx-node-tests/test_maxpool_1d_default/model.onnx".as_ref())?;
/// let node = &model.nodes()[0];
/// assert_eq!((node.op_type(), node.domain(), node.scope()), ("MaxPool", "", ""));
/// assert_eq!(node.plan(Preset::Onnx)?.outputs()[0].shape, [1, 3, 31]);
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ModelNode {
    pub(super) scope: Arc<str>,
    pub(super) name: String,
    pub(super) op_type: String,
    pub(super) domain: String,
    pub(super) node: Result<Node, ModelError>,
    pub(super) inputs: Vec<ModelInput>,
    pub(super) outputs: Vec<String>,
}

impl Model {
    /// Reads a model's file: an OpenVINO IR if its name ends in `.xml`, with its weights in the file of the same name that ends
    /// in `.bin`, and otherwise ONNX.
    ///
    /// # Errors
    /// [`ModelError::File`] for a file that cannot be read; otherwise as [`Model::from_onnx`] and [`Model::from_ir`].
    ///
    /// ```
    /// use wgpu_pooling::onnx::{Model, ModelError};
    /// assert!(matches!(Model::open("no such file".as_ref()), Err(ModelError::File { .. })));
    /// ```
    pub fn open(path: &Path) -> Result<Model, ModelError> {
        let failed =
            |error: std::io::Error| ModelError::File { path: path.display().to_string(), reason: error.to_string() };
        let is_ir = path.extension().is_some_and(|ending| ending == "xml");
        let length = std::fs::metadata(path).map_err(failed)?.len();
        at_most("bytes of a model", length, if is_ir { MAX_TEXT } else { MAX_FILE })?;
        let bytes = std::fs::read(path).map_err(failed)?;
        if is_ir {
            let text = String::from_utf8(bytes).map_err(|error| ModelError::Ir(error.to_string()))?;
            let weights = path.with_extension("bin");
            let parts = ir::read(&text, &mut |range| ir::weights_of_file(&weights, range))?;
            return Ok(Model { bytes: Vec::new(), folder: None, parts });
        }
        let model = Model::from_onnx(bytes)?;
        // The folder of a bare name is the current one.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(Model { folder: Some(folder.to_owned()), ..model })
    }

    /// Reads an ONNX model, a `ModelProto`. Tensors in other files are refused when they are asked for.
    ///
    /// # Errors
    /// [`ModelError::Malformed`], [`ModelError::NoGraph`] and [`ModelError::TooMany`]. What is wrong with a single node, such as a
    /// domain that is not imported, is an error of its [`ModelNode::node`].
    ///
    /// ```
    /// use wgpu_pooling::onnx::{Model, ModelError};
    /// assert_eq!(Model::from_onnx(Vec::new()), Err(ModelError::NoGraph));
    /// ```
    pub fn from_onnx(bytes: Vec<u8>) -> Result<Model, ModelError> {
        at_most("bytes of a model", bytes.len() as u64, MAX_FILE)?;
        let parts = walk::model(Message::new(&bytes))?;
        Ok(Model { bytes, folder: None, parts })
    }

    /// Reads an OpenVINO IR from its text and its weights.
    ///
    /// # Errors
    /// [`ModelError::Ir`] and [`ModelError::TooMany`].
    ///
    /// ```
    /// use wgpu_pooling::onnx::Model;
    /// let model = Model::from_ir("<net name='n' version='11'><layers/><edges/></net>", &[])?;
    /// assert!(model.nodes().is_empty());
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn from_ir(text: &str, weights: &[u8]) -> Result<Model, ModelError> {
        at_most("bytes of a model", text.len() as u64, MAX_TEXT)?;
        let parts = ir::read(text, &mut |range| ir::weights_of_slice(weights, range))?;
        Ok(Model { bytes: Vec::new(), folder: None, parts })
    }

    /// The pooling nodes, in the order of the file.
    pub fn nodes(&self) -> &[ModelNode] {
        &self.parts.nodes
    }

    /// The names of the model's inputs, without those that initializers give.
    pub fn inputs(&self) -> &[String] {
        &self.parts.inputs
    }

    /// The names of the model's outputs, and where their values come from.
    pub fn outputs(&self) -> &[(String, Source)] {
        &self.parts.outputs
    }

    /// A tensor that the model has, by its number in [`Source::Constant`]. External data are read from their file.
    ///
    /// # Errors
    /// As [`FileTensor::read`]; [`ModelError::External`] for a location that is absolute or leaves the model's folder, and for
    /// an offset and a length that the file does not have.
    ///
    /// ```
    /// let model = wgpu_pooling::onnx::Model::open("tests/onnx-node-tests/test_maxpool_1d_default/model.onnx".as_ref())?;
    /// assert!(model.constant(0).is_err(), "its node takes no constant");
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn constant(&self, number: usize) -> Result<FileTensor<'_>, ModelError> {
        let missing = ModelError::Malformed { what: "the model has no constant of this number", at: 0 };
        let range = match self.parts.constants.get(number).ok_or(missing.clone())? {
            Constant::Integers(values) => return Ok(FileTensor::of_integers(values)),
            Constant::Message(range) => range.clone(),
        };
        let at = range.start;
        let tensor = TensorMessage::read(Message { bytes: self.bytes.get(range).ok_or(missing)?, at })?;
        let Some(external) = ExternalData::of(&tensor)? else {
            return FileTensor::inside(&tensor);
        };
        let Some(folder) = &self.folder else {
            return Err(external.refused("the model was not read from a file"));
        };
        let (_, _, expected) = kind(&tensor)?;
        FileTensor::with_bytes(&tensor, Cow::Owned(external.read(folder, expected)?))
    }
}

impl ModelNode {
    /// Where the node is: the nodes and functions that enclose it, separated by `/`; empty in the model's own graph.
    pub fn scope(&self) -> &str {
        &self.scope
    }

    /// The node's name, which may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The operator's type, such as `MaxPool`.
    pub fn op_type(&self) -> &str {
        &self.op_type
    }

    /// The operator's domain; ONNX's own is empty.
    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The node as a value without a model: operator, domain, opset and attributes; or why there is none.
    ///
    /// # Errors
    /// [`ModelError::NoOpset`], [`ModelError::AttributeOfCaller`] and [`ModelError::TooMany`].
    ///
    /// ```
    /// let model = wgpu_pooling::onnx::Model::open("tests/onnx-node-tests/test_maxpool_1d_default/model.onnx".as_ref())?;
    /// assert_eq!(model.nodes()[0].node()?.opset(), 22);
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn node(&self) -> Result<&Node, ModelError> {
        self.node.as_ref().map_err(ModelError::clone)
    }

    /// The inputs.
    pub fn inputs(&self) -> &[ModelInput] {
        &self.inputs
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// The plan from what the model says of the inputs, by the conventions of a runtime.
    ///
    /// # Errors
    /// As [`ModelNode::node`]; [`ModelError::Unknown`] for an input whose element type, shape or values the model does not
    /// say; [`ModelError::Plan`] for what [`Node::plan_for`] refuses.
    ///
    /// ```
    /// use wgpu_pooling::{Preset, onnx::Model};
    ///
    /// let model = Model::open("tests/onnx-node-tests/test_maxpool_1d_default/model.onnx".as_ref())?;
    /// assert_eq!(model.nodes()[0].plan(Preset::OpenVino)?.operator(), "max_pool");
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn plan(&self, preset: Preset) -> Result<Plan, ModelError> {
        let node = self.node()?.clone().preset(preset);
        let mut inputs = Vec::new();
        for (number, input) in self.inputs.iter().enumerate() {
            let operand = self.operand(number);
            let unknown = |what| ModelError::Unknown { operand, what, name: input.name.clone() };
            let shape = input.shape.as_deref().ok_or_else(|| unknown("shape"))?;
            let dtype = input.dtype.ok_or_else(|| unknown("element type"))?;
            if operand == SHAPE && input.values.is_none() {
                return Err(unknown("values"));
            }
            inputs.push(NodeInput { dtype, shape, values: input.values.as_deref() });
        }
        Ok(node.plan_for(&inputs, self.outputs.len())?)
    }

    /// The name of an input in the operator's specification.
    fn operand(&self, number: usize) -> &'static str {
        operand(&self.op_type, number)
    }
}

/// The name of the input whose values a plan depends on.
pub(super) const SHAPE: &str = "output_shape";

/// The name of an input in the operator's specification.
pub(super) fn operand(op_type: &str, number: usize) -> &'static str {
    match (op_type, number) {
        (_, 0) => "X",
        ("MaxUnpool", 1) => "I",
        ("MaxUnpool", 2) | ("AdaptiveMaxPool", 1) => SHAPE,
        _ => "an input that the operator does not have",
    }
}
