//! The pooling nodes of a model, and where their input values come from.

use std::ops::Range;
use std::sync::Arc;

use wgpu_pooling_plan::{DType, Node, NodeInput, Plan, Preset};

use super::error::ModelError;

/// What is read of a model.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Parts {
    pub nodes: Vec<ModelNode>,
    /// The names of the inputs that the caller gives.
    pub inputs: Vec<String>,
    pub outputs: Vec<(String, ValueSource)>,
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
/// use wgpu_pooling::onnx::{Model, ValueSource};
///
/// // A model whose one node pools the model's input.
/// let model = Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
/// assert_eq!(model.nodes()[0].inputs()[0].source, ValueSource::Input(0));
/// assert_eq!(model.outputs(), [("y".to_owned(), ValueSource::Output { node: 0, output: 0 })]);
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ValueSource {
    /// The model's input with this number, not counting inputs that an initializer gives.
    Input(usize),
    /// A tensor of the model: [`Model::constant`](super::Model::constant).
    Constant(usize),
    /// An output of a pooling node: the node's number in [`Model::nodes`](super::Model::nodes), and the output's.
    Output {
        /// The node's number.
        node: usize,
        /// The output's number.
        output: usize,
    },
    /// The type of another operator, which this crate does not have. Empty if nothing in the model gives the value.
    Elsewhere(String),
}

/// An input of a pooling node.
///
/// ```
/// use wgpu_pooling::{DType, onnx::Model};
///
/// let model = Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
/// let x = &model.nodes()[0].inputs()[0];
/// assert_eq!((&x.name[..], x.dtype, &x.shape), ("x", Some(DType::F32), &Some(vec![1, 3, 32])));
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelInput {
    /// The value's name in the graph or function that has the node.
    pub name: String,
    /// The element type, if the model says it and it is one of this crate's.
    pub dtype: Option<DType>,
    /// The extents, if the model says all of them.
    pub shape: Option<Vec<usize>>,
    /// The names of extents to which the model gives no size: [`Model::with_sizes`](super::Model::with_sizes) does.
    pub symbols: Vec<String>,
    /// The values of an input that the plan depends on, if the model has them.
    pub values: Option<Vec<i64>>,
    /// Where the value comes from.
    pub source: ValueSource,
}

/// A pooling node of a model. A node in the body of a function is there once for each call of the function.
///
/// ```
/// use wgpu_pooling::{Preset, onnx::Model};
///
/// let model = Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
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
    /// let model = wgpu_pooling::onnx::Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
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
    /// As [`ModelNode::node`]; [`ModelError::Unknown`] for an input whose element type, shape or values the model does
    /// not say; [`ModelError::Plan`] for what [`Node::plan_for`] refuses.
    ///
    /// ```
    /// use wgpu_pooling::{Preset, onnx::Model};
    ///
    /// let model = Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
    /// assert_eq!(model.nodes()[0].plan(Preset::OpenVino)?.operator(), "max_pool");
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn plan(&self, preset: Preset) -> Result<Plan, ModelError> {
        let node = self.node()?.clone().preset(preset);
        let mut inputs = Vec::new();
        for (number, input) in self.inputs.iter().enumerate() {
            let operand = operand(&self.op_type, number);
            let (name, symbols) = (&input.name, &input.symbols);
            let unknown = |what| ModelError::Unknown { operand, what, name: name.clone(), symbols: symbols.clone() };
            let shape = input.shape.as_deref().ok_or_else(|| unknown("shape"))?;
            let dtype = input.dtype.ok_or_else(|| unknown("element type"))?;
            if operand == SHAPE && input.values.is_none() {
                return Err(unknown("values"));
            }
            inputs.push(NodeInput { dtype, shape, values: input.values.as_deref() });
        }
        Ok(node.plan_for(&inputs, self.outputs.len())?)
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

/// The elements of a tensor, if they are integers of 64 or 32 bits.
pub(super) fn integers(dtype: DType, bytes: &[u8]) -> Option<Vec<i64>> {
    match dtype {
        DType::I64 => Some(bytes.as_chunks().0.iter().map(|&bytes| i64::from_le_bytes(bytes)).collect()),
        DType::I32 => Some(bytes.as_chunks().0.iter().map(|&bytes| i32::from_le_bytes(bytes).into()).collect()),
        _ => None,
    }
}
