//! Nodes of ONNX models: operator type, domain, opset and attributes, as a runtime has them.

use super::adaptive_max_pool::AdaptiveMaxPool;
use super::max_pool::{GlobalMaxPool, MaxPool};
use super::max_unpool::MaxUnpool;
use super::openvino_node;
use super::operator::Operator;
use crate::attributes::Attribute;
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::options::{CeilRule, Layout, NanPolicy, Preset};
use crate::plan::Plan;
use crate::untyped::TensorRef;

/// The newest opset of ONNX, that of ONNX 1.23. Its MaxPool, GlobalMaxPool and MaxUnpool are those of opset 22.
const NEWEST_OPSET: i64 = 28;
/// The domain of onnxruntime's nodes in NHWC.
const NHWC: &str = "com.ms.internal.nhwc";
/// The domain of this crate's own nodes.
const OWN: &str = "wgpu.pooling";
/// The domain of OpenVINO's layers.
const OPENVINO: &str = "openvino";

/// A node of an ONNX model: MaxPool, GlobalMaxPool or MaxUnpool, with the opset that the model imports for its domain.
///
/// The opset says which attributes and outputs the node can have, and what they mean:
///
/// | | since |
/// | --- | --- |
/// | MaxPool, GlobalMaxPool | 1 |
/// | MaxPool's `storage_order`, and its output Indices | 8 |
/// | MaxUnpool | 9 |
/// | MaxPool's `ceil_mode` and `dilations` | 10 |
/// | `ceil_mode` 1 drops a last window in the end padding; before, the text keeps it ([`CeilRule::CeilLiteral`]) | 22 |
///
/// By their text, versions 10, 11 and 12 of the operators, which hold up to opset 21, keep that window (onnx#5711).
/// onnxruntime drops it in every opset, and OpenVINO keeps it; a [`Preset`] chooses. Opsets up to 28, the newest of
/// ONNX 1.23, have the operators of 22; later ones are refused. Element types are not restricted to those of the opset.
///
/// The domain is one of these:
///
/// | domain | operators |
/// | --- | --- |
/// | ONNX's (empty, or `ai.onnx`) | as above |
/// | `com.ms.internal.nhwc` | onnxruntime's, where X and Y are NHWC; MaxPool and MaxUnpool may have the attributes `activation` and `activation_params` |
/// | `wgpu.pooling` | this crate's: MaxPool and MaxUnpool by opset 22 of ONNX, whatever the node's opset, and AdaptiveMaxPool with the attribute `output_size` and OpenVINO's conventions; the activations as above. The attribute `preset`, a name of [`Preset`], overrides [`Node::preset`] |
/// | `openvino` | OpenVINO's MaxPool-1, MaxPool-8, MaxPool-14 and AdaptiveMaxPool-8, with OpenVINO's attributes; the opset is that of the layer. They follow OpenVINO's conventions ([`Preset::OpenVino`]), whatever preset is set |
///
/// ```
/// use wgpu_pooling::{Attribute, Backend, DType, Node, Reference, TensorMut, TensorRef};
///
/// let node = Node::new("MaxPool", 12)
///     .attribute("kernel_shape", Attribute::Ints(vec![2]))
///     .attribute("strides", Attribute::Ints(vec![2]));
/// let x = TensorRef::new(DType::U8, &[1, 1, 4], &[3, 1, 2, 9])?;
/// // Y alone; with 2 outputs Y and Indices.
/// let plan = node.plan(&[x], 1)?;
/// let mut y = [0; 2];
/// Reference.run_blocking(&plan, &[x], &mut [TensorMut::new(DType::U8, &[1, 1, 2], &mut y)?])?;
/// assert_eq!(y, [3, 9]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Node {
    op_type: String,
    domain: String,
    opset: i64,
    attributes: Vec<(String, Attribute)>,
    preset: Preset,
}

/// What is known of a node's input before there are elements: its type and shape, and the values of an input that is a
/// part of the plan (`output_shape` of MaxUnpool, `output_shape` of OpenVINO's AdaptiveMaxPool).
///
/// ```
/// use wgpu_pooling::{Attribute, DType, Node, NodeInput};
///
/// let node = Node::new("MaxPool", 22).attribute("kernel_shape", Attribute::Ints(vec![3, 3]));
/// let x = NodeInput { dtype: DType::F32, shape: &[1, 64, 112, 112], values: None };
/// assert_eq!(node.plan_for(&[x], 1)?.outputs()[0].shape, [1, 64, 110, 110]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NodeInput<'a> {
    /// The element type.
    pub dtype: DType,
    /// The extents.
    pub shape: &'a [usize],
    /// The values, where the plan depends on them.
    pub values: Option<&'a [i64]>,
}

impl Node {
    /// A node of ONNX's own domain, without attributes.
    ///
    /// ```
    /// use wgpu_pooling::Node;
    /// assert!(Node::new("GlobalMaxPool", 1).operator().is_ok());
    /// assert!(Node::new("MaxUnpool", 8).operator().is_err(), "there is a MaxUnpool since opset 9");
    /// ```
    pub fn new(op_type: impl Into<String>, opset: i64) -> Self {
        let (op_type, domain, preset) = (op_type.into(), String::new(), Preset::default());
        Node { op_type, domain, opset, attributes: Vec::new(), preset }
    }

    /// The node's domain. Default ONNX's.
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, DType, Node, TensorRef};
    ///
    /// let kernel = Attribute::Ints(vec![2, 2]);
    /// let node = Node::new("MaxPool", 12).domain("com.ms.internal.nhwc").attribute("kernel_shape", kernel);
    /// // X and Y have the channels last, Indices has not.
    /// let plan = node.plan(&[TensorRef::new(DType::U8, &[1, 4, 5, 3], &[0; 60])?], 2)?;
    /// assert_eq!((&plan.outputs()[0].shape, &plan.outputs()[1].shape), (&vec![1, 3, 4, 3], &vec![1, 3, 3, 4]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.domain = domain.into();
        self
    }

    /// One more attribute.
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, Node, PlanError};
    ///
    /// let node = Node::new("MaxPool", 8).attribute("kernel_shape", Attribute::Ints(vec![2]));
    /// let error = node.attribute("ceil_mode", Attribute::Int(1)).operator().unwrap_err();
    /// let what = "the attribute ceil_mode";
    /// assert_eq!(error, PlanError::NotInOpset { operator: "MaxPool", what, since: 10, opset: 8 });
    /// ```
    pub fn attribute(mut self, name: impl Into<String>, value: Attribute) -> Self {
        self.attributes.push((name.into(), value));
        self
    }

    /// More attributes.
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, MaxUnpool, Node, Operator};
    ///
    /// let attributes = [("kernel_shape", Attribute::Ints(vec![2])), ("strides", Attribute::Ints(vec![2]))];
    /// let node = Node::new("MaxUnpool", 11).attributes(attributes);
    /// assert_eq!(node.operator()?, Operator::MaxUnpool(MaxUnpool::new([2]).strides([2])));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn attributes<S: Into<String>>(mut self, attributes: impl IntoIterator<Item = (S, Attribute)>) -> Self {
        self.attributes.extend(attributes.into_iter().map(|(name, value)| (name.into(), value)));
        self
    }

    /// The runtime whose conventions hold where the specification and runtimes differ. Default [`Preset::Onnx`].
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, MaxPool, Node, Operator, Preset};
    ///
    /// let node = Node::new("MaxPool", 12).attribute("kernel_shape", Attribute::Ints(vec![3, 3]));
    /// let operator = node.preset(Preset::OnnxRuntime).operator()?;
    /// assert_eq!(operator, Operator::MaxPool(MaxPool::onnxruntime([3, 3])));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// The node's operator.
    ///
    /// # Errors
    /// [`PlanError::UnknownOperator`]; [`PlanError::UnknownValue`] for an unknown preset that the node names;
    /// [`PlanError::NotInOpset`] for attributes that the opset does not have yet; [`PlanError::UnknownOpset`];
    /// [`PlanError::Combination`] for an operator that the preset's runtime does not have; otherwise as
    /// [`MaxPool::from_onnx`].
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, CeilRule, MaxPool, Node, Operator};
    ///
    /// let attributes = [("kernel_shape", Attribute::Ints(vec![2])), ("ceil_mode", Attribute::Int(1))];
    /// let operator = |opset| Node::new("MaxPool", opset).attributes(attributes.clone()).operator();
    /// let pool = MaxPool::new([2]).ceil_mode(1);
    /// assert_eq!(operator(21)?, Operator::MaxPool(pool.clone().ceil_rule(CeilRule::CeilLiteral)));
    /// assert_eq!(operator(22)?, Operator::MaxPool(pool));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn operator(&self) -> Result<Operator, PlanError> {
        Ok(self.operator_and_index_type()?.0)
    }

    fn operator_and_index_type(&self) -> Result<(Operator, IndexType), PlanError> {
        let operator = match self.domain.as_str() {
            "" | "ai.onnx" | NHWC if self.opset > NEWEST_OPSET => {
                Err(PlanError::UnknownOpset { opset: self.opset, newest: NEWEST_OPSET })
            }
            "" | "ai.onnx" => self.operator_in(Layout::Nchw),
            NHWC => self.operator_in(Layout::Nhwc),
            OWN => self.with_named_preset()?.operator_in(Layout::Nchw),
            OPENVINO => {
                let read = openvino_node::operator(&self.op_type, self.opset, &self.attributes)?;
                return read.ok_or_else(|| self.unknown());
            }
            _ => Err(self.unknown()),
        };
        Ok((operator?, IndexType::I64))
    }

    /// The operator by ONNX's names.
    fn operator_in(&self, layout: Layout) -> Result<Operator, PlanError> {
        match self.op_type.as_str() {
            "MaxPool" if self.opset >= 1 => Ok(Operator::MaxPool(self.max_pool()?.layout(layout))),
            "GlobalMaxPool" if self.opset >= 1 => Ok(Operator::GlobalMaxPool(self.global_max_pool()?.layout(layout))),
            "MaxUnpool" if self.rules() >= 9 => Ok(Operator::MaxUnpool(self.max_unpool()?.layout(layout))),
            "AdaptiveMaxPool" if self.domain == OWN => Ok(Operator::AdaptiveMaxPool(self.adaptive_max_pool()?)),
            _ => Err(self.unknown()),
        }
    }

    /// The node with the preset that its attribute `preset` names, and without that attribute.
    fn with_named_preset(&self) -> Result<Node, PlanError> {
        let mut node = self.clone();
        let named = |node: &Node| node.attributes.iter().position(|(name, _)| name == "preset");
        if let Some(position) = named(&node) {
            let (name, value) = node.attributes.remove(position);
            if named(&node).is_some() {
                return Err(PlanError::RepeatedAttribute { operator: "a node of wgpu.pooling", name });
            }
            node.preset = value.string(&name)?.parse()?;
        }
        Ok(node)
    }

    /// The plan for these inputs (X of a pool; X, Indices and, if the node has it, `output_shape` of an unpool) and
    /// this number of outputs: 1, or 2 for a MaxPool with Indices. The elements of X and Indices do not matter.
    ///
    /// # Errors
    /// As [`Node::operator`]; [`PlanError::OperandCount`] and [`PlanError::OperandType`] for inputs and outputs that
    /// the operator does not have; otherwise as [`MaxPool::plan`] and [`MaxUnpool::plan`].
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, Node, TensorRef, TensorView};
    ///
    /// let node = Node::new("MaxUnpool", 9).attribute("kernel_shape", Attribute::Ints(vec![2]));
    /// let x: TensorRef = TensorView::new(&[1, 1, 2], &[5.0f32, 6.0])?.into();
    /// let indices: TensorRef = TensorView::new(&[1, 1, 2], &[1i64, 2])?.into();
    /// let output_shape: TensorRef = TensorView::new(&[3], &[1i64, 1, 7])?.into();
    /// assert_eq!(node.plan(&[x.clone(), indices.clone()], 1)?.outputs()[0].shape, [1, 1, 3]);
    /// assert_eq!(node.plan(&[x, indices, output_shape], 1)?.outputs()[0].shape, [1, 1, 7]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn plan(&self, inputs: &[TensorRef<'_>], outputs: usize) -> Result<Plan, PlanError> {
        let values: Vec<Option<Vec<i64>>> = inputs.iter().map(list_of_integers).collect();
        let known = inputs.iter().zip(&values);
        let known = known.map(|(input, values)| NodeInput {
            dtype: input.dtype(),
            shape: input.shape(),
            values: values.as_deref(),
        });
        self.plan_for(&known.collect::<Vec<_>>(), outputs)
    }

    /// The plan, as [`Node::plan`], from the shapes and types of the inputs alone. An input that the plan depends on,
    /// such as `output_shape` of MaxUnpool, needs its values.
    ///
    /// # Errors
    /// As [`Node::plan`].
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, DType, Node, NodeInput};
    ///
    /// let node = Node::new("MaxUnpool", 22).attribute("kernel_shape", Attribute::Ints(vec![2]));
    /// let x = NodeInput { dtype: DType::F32, shape: &[1, 1, 2], values: None };
    /// let indices = NodeInput { dtype: DType::I64, ..x };
    /// let output_shape = NodeInput { dtype: DType::I64, shape: &[3], values: Some(&[1, 1, 7]) };
    /// assert_eq!(node.plan_for(&[x, indices, output_shape], 1)?.outputs()[0].shape, [1, 1, 7]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn plan_for(&self, inputs: &[NodeInput<'_>], outputs: usize) -> Result<Plan, PlanError> {
        let (operator, index_type) = self.operator_and_index_type()?;
        let openvino = self.domain == OPENVINO;
        let (name, input_count, output_count) = match operator {
            Operator::MaxPool(_) if openvino && self.opset < 8 => ("MaxPool", 1..=1, 1..=1),
            Operator::MaxPool(_) => ("MaxPool", 1..=1, 1..=2),
            Operator::GlobalMaxPool(_) => ("GlobalMaxPool", 1..=1, 1..=1),
            Operator::MaxUnpool(_) => ("MaxUnpool", 2..=3, 1..=1),
            Operator::AdaptiveMaxPool(_) => ("AdaptiveMaxPool", if openvino { 2..=2 } else { 1..=1 }, 1..=2),
        };
        for (what, expected, actual) in [("inputs", input_count, inputs.len()), ("outputs", output_count, outputs)] {
            if !expected.contains(&actual) {
                return Err(PlanError::OperandCount { operator: name, what, expected: counts(&expected), actual });
            }
        }
        let index_type = (outputs == 2).then_some(index_type);
        match (operator, inputs) {
            (Operator::MaxPool(pool), [x]) => {
                if index_type.is_some() && !openvino {
                    self.has_since("MaxPool", "the output Indices", 8)?;
                }
                pool.plan(x.shape, x.dtype, index_type)
            }
            (Operator::GlobalMaxPool(pool), [x]) => pool.plan(x.shape, x.dtype, None),
            (Operator::AdaptiveMaxPool(pool), [x]) => pool.plan(x.shape, x.dtype, index_type),
            (Operator::AdaptiveMaxPool(_), [x, size]) => {
                let size = values("AdaptiveMaxPool", "output_shape", size)?;
                AdaptiveMaxPool::openvino(size).plan(x.shape, x.dtype, index_type)
            }
            (Operator::MaxUnpool(unpool), [x, indices, rest @ ..]) => plan_unpool(unpool, x, indices, rest.first()),
            // The numbers of inputs are checked above.
            _ => Err(self.unknown()),
        }
    }

    /// The operator's type, such as `MaxPool`.
    pub fn op_type(&self) -> &str {
        &self.op_type
    }

    /// The domain as it was given; ONNX's own is the empty text or `ai.onnx`.
    pub fn domain_name(&self) -> &str {
        &self.domain
    }

    /// The version of the operator set.
    pub fn opset(&self) -> i64 {
        self.opset
    }

    /// The attributes in the order in which they were given.
    pub fn attribute_values(&self) -> &[(String, Attribute)] {
        &self.attributes
    }

    /// The opset whose rules hold: this crate's own domain has those of ONNX's opset 22.
    fn rules(&self) -> i64 {
        if self.domain == OWN { 22 } else { self.opset }
    }

    fn max_pool(&self) -> Result<MaxPool, PlanError> {
        for (name, what, since) in [
            ("storage_order", "the attribute storage_order", 8),
            ("ceil_mode", "the attribute ceil_mode", 10),
            ("dilations", "the attribute dilations", 10),
        ] {
            if self.value(name).is_some() {
                self.has_since("MaxPool", what, since)?;
            }
        }
        self.check_activation("MaxPool")?;
        let kernel = self.list("MaxPool", "kernel_shape")?;
        let pool = match self.preset {
            Preset::Onnx | Preset::OnnxAfter1_23 => MaxPool::onnx(kernel),
            Preset::OnnxRuntime => MaxPool::onnxruntime(kernel),
            Preset::OpenVino => MaxPool::openvino(kernel),
            // A node without strides has strides of 1, whatever the runtime's own call assumes.
            Preset::PyTorch => MaxPool::pytorch(kernel).strides(vec![1; kernel.len()]),
        };
        let pool = pool.with_attributes(self.read_attributes().cloned())?;
        let keeps_the_last_window = match self.preset {
            Preset::Onnx | Preset::OnnxAfter1_23 => self.rules() < 22,
            Preset::OpenVino => true,
            Preset::OnnxRuntime | Preset::PyTorch => false,
        };
        Ok(match self.value("ceil_mode") {
            Some(Attribute::Int(1)) if keeps_the_last_window => pool.ceil_rule(CeilRule::CeilLiteral),
            _ => pool,
        })
    }

    /// The attributes that the preset's runtime reads.
    fn read_attributes(&self) -> impl Iterator<Item = &(String, Attribute)> {
        let skips = self.preset == Preset::OnnxRuntime;
        self.attributes.iter().filter(move |(name, value)| !(skips && self.is_skipped(name, value)))
    }

    /// Whether onnxruntime reads a node with this attribute as if it were not there: an empty list or text, a
    /// `ceil_mode` other than 1, and pads beside an `auto_pad` that computes them.
    fn is_skipped(&self, name: &str, value: &Attribute) -> bool {
        let of_pool = self.op_type == "MaxPool";
        match (name, value) {
            ("strides" | "dilations" | "pads", Attribute::Ints(values)) if values.is_empty() => true,
            ("pads", _) => of_pool && self.value("auto_pad").is_some_and(|auto_pad| !is_notset(auto_pad)),
            ("auto_pad", Attribute::String(text)) => of_pool && text.is_empty(),
            ("ceil_mode", Attribute::Int(mode)) => of_pool && *mode != 1,
            _ => false,
        }
    }

    fn global_max_pool(&self) -> Result<GlobalMaxPool, PlanError> {
        if let Some((name, _)) = self.attributes.first() {
            return Err(PlanError::UnknownAttribute { operator: "GlobalMaxPool", name: name.clone() });
        }
        // A window without padding differs between runtimes in its NaN alone.
        Ok(GlobalMaxPool::new().nan_policy(match self.preset {
            Preset::Onnx | Preset::OnnxAfter1_23 | Preset::OnnxRuntime => NanPolicy::SeedFirst,
            Preset::OpenVino => NanPolicy::SeedLowest,
            Preset::PyTorch => NanPolicy::PropagateLast,
        }))
    }

    fn max_unpool(&self) -> Result<MaxUnpool, PlanError> {
        self.check_activation("MaxUnpool")?;
        let kernel = self.list("MaxUnpool", "kernel_shape")?;
        let unpool = match self.preset {
            Preset::Onnx => MaxUnpool::onnx(kernel),
            Preset::OnnxAfter1_23 => MaxUnpool::onnx_after_1_23(kernel),
            Preset::OnnxRuntime => MaxUnpool::onnxruntime(kernel),
            Preset::PyTorch => MaxUnpool::pytorch(kernel).strides(vec![1; kernel.len()]),
            Preset::OpenVino => {
                return Err(PlanError::Combination { first: "the preset openvino", second: "MaxUnpool" });
            }
        };
        unpool.with_attributes(self.read_attributes().cloned())
    }

    fn adaptive_max_pool(&self) -> Result<AdaptiveMaxPool, PlanError> {
        let (operator, attribute) = ("AdaptiveMaxPool", "output_size");
        if let Some((name, _)) = self.attributes.iter().find(|(name, _)| name != attribute) {
            return Err(PlanError::UnknownAttribute { operator, name: name.clone() });
        }
        if let [_, (name, _), ..] = &self.attributes[..] {
            return Err(PlanError::RepeatedAttribute { operator, name: name.clone() });
        }
        let size = self.list(operator, attribute)?;
        Ok(match self.preset {
            Preset::PyTorch => AdaptiveMaxPool::pytorch(size),
            _ => AdaptiveMaxPool::openvino(size),
        })
    }

    fn list(&self, operator: &'static str, attribute: &'static str) -> Result<&[i64], PlanError> {
        let missing = PlanError::MissingAttribute { operator, attribute };
        self.value(attribute).ok_or(missing)?.ints(attribute)
    }

    /// Refuses an activation outside onnxruntime's domain and this crate's.
    fn check_activation(&self, operator: &'static str) -> Result<(), PlanError> {
        let unknown = ["activation", "activation_params"].into_iter().find(|name| self.value(name).is_some());
        match unknown {
            Some(name) if self.domain != NHWC && self.domain != OWN => {
                Err(PlanError::UnknownAttribute { operator, name: name.to_owned() })
            }
            _ => Ok(()),
        }
    }

    fn has_since(&self, operator: &'static str, what: &'static str, since: i64) -> Result<(), PlanError> {
        if self.rules() >= since {
            return Ok(());
        }
        Err(PlanError::NotInOpset { operator, what, since, opset: self.opset })
    }

    fn value(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    fn unknown(&self) -> PlanError {
        let Node { op_type, domain, opset, .. } = self.clone();
        PlanError::UnknownOperator { op_type, domain, opset }
    }
}

/// Whether an `auto_pad` leaves the pads to the node, as onnxruntime reads it.
fn is_notset(auto_pad: &Attribute) -> bool {
    matches!(auto_pad, Attribute::String(text) if text.is_empty() || text == "NOTSET")
}

/// The plan of an unpool whose inputs are X, Indices and perhaps `output_shape`.
fn plan_unpool(
    unpool: MaxUnpool,
    x: &NodeInput<'_>,
    indices: &NodeInput<'_>,
    output_shape: Option<&NodeInput<'_>>,
) -> Result<Plan, PlanError> {
    let index_type = match indices.dtype {
        DType::I64 => IndexType::I64,
        DType::I32 => IndexType::I32,
        _ => return Err(operand_type("MaxUnpool", "I", "indices of i64 or i32", indices)),
    };
    let unpool = match output_shape {
        Some(shape) => unpool.output_shape(values("MaxUnpool", "output_shape", shape)?),
        None => unpool,
    };
    let plan = unpool.plan(x.shape, x.dtype, index_type)?;
    match plan.inputs()[1].shape == indices.shape {
        true => Ok(plan),
        false => Err(operand_type("MaxUnpool", "I", "an index for each element of X", indices)),
    }
}

/// The values of an input that the plan depends on.
fn values<'a>(operator: &'static str, operand: &'static str, given: &NodeInput<'a>) -> Result<&'a [i64], PlanError> {
    // OpenVINO's inputs may be i32 too.
    let is_type = given.dtype == DType::I64 || (given.dtype == DType::I32 && operator == "AdaptiveMaxPool");
    match given.values {
        _ if !is_type || given.shape.len() != 1 => Err(operand_type(operator, operand, "a list of i64", given)),
        Some(values) if values.len() == given.shape[0] => Ok(values),
        _ => Err(operand_type(operator, operand, "a list with known values", given)),
    }
}

/// The elements of a list of i64 or i32.
fn list_of_integers(tensor: &TensorRef<'_>) -> Option<Vec<i64>> {
    match (tensor.dtype(), tensor.shape().len()) {
        (DType::I64, 1) => Some(tensor.bytes().as_chunks().0.iter().map(|&bytes| i64::from_ne_bytes(bytes)).collect()),
        (DType::I32, 1) => {
            Some(tensor.bytes().as_chunks().0.iter().map(|&bytes| i32::from_ne_bytes(bytes).into()).collect())
        }
        _ => None,
    }
}

/// The numbers of operands that an operator can have, in words.
fn counts(expected: &std::ops::RangeInclusive<usize>) -> &'static str {
    match (expected.start(), expected.end()) {
        (1, 1) => "1",
        (2, 2) => "2",
        (1, 2) => "1 or 2",
        _ => "2 or 3",
    }
}

fn operand_type(
    operator: &'static str,
    operand: &'static str,
    expected: &'static str,
    given: &NodeInput<'_>,
) -> PlanError {
    let actual = format!("{} of shape {:?}", given.dtype.name(), given.shape);
    PlanError::OperandType { operator, operand, expected, actual }
}
