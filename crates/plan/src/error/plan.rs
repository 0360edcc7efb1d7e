//! Errors that follow from attributes, shapes and limits.

use crate::element::DType;

/// The reason why attributes, shapes or limits have no plan or schedule.
///
/// Every variant carries the numbers that led to it. A field `axis` counts spatial axes from 0, outermost first (D, H,
/// W), unless it says otherwise.
///
/// ```
/// use wgpu_pooling::{DType, MaxPool, PlanError};
///
/// let error = MaxPool::new([6, 6]).plan(&[1, 1, 4, 4], DType::F32, None).unwrap_err();
/// assert_eq!(error, PlanError::KernelExceedsInput { axis: 0, effective_kernel: 6, padded_input: 4 });
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A string or number that is no value of the attribute.
    #[error("{attribute}: unknown value {value:?}, expected {expected}")]
    UnknownValue {
        /// The attribute's ONNX name.
        attribute: &'static str,
        /// The value as given.
        value: String,
        /// The valid values.
        expected: &'static str,
    },
    /// A node attribute that the operator does not have. It is refused, because ignoring it could change the result.
    #[error("{operator} has no attribute {name:?}")]
    UnknownAttribute {
        /// The operator's ONNX name.
        operator: &'static str,
        /// The attribute as given.
        name: String,
    },
    /// A node attribute of the wrong kind, for example a string instead of integers.
    #[error("{name}: expected {expected}, got {actual}")]
    AttributeKind {
        /// The attribute's name.
        name: String,
        /// The expected kind.
        expected: &'static str,
        /// The given kind.
        actual: &'static str,
    },
    /// An attribute that is given twice.
    #[error("{operator} is given {name:?} twice")]
    RepeatedAttribute {
        /// The operator's ONNX name.
        operator: &'static str,
        /// The attribute's name.
        name: String,
    },
    /// A required attribute is absent.
    #[error("{operator} needs the attribute {attribute}")]
    MissingAttribute {
        /// The operator's ONNX name.
        operator: &'static str,
        /// The attribute's ONNX name.
        attribute: &'static str,
    },
    /// A list attribute whose length does not match the number of spatial axes, or an activation with too many
    /// parameters.
    #[error("{attribute} has {actual} values, expected {expected} {}", in_words(attribute))]
    AttributeLength {
        /// The attribute's ONNX name.
        attribute: &'static str,
        /// The number of values that the shape requires, or the most that the activation takes.
        expected: usize,
        /// The number of values given.
        actual: usize,
    },
    /// A kernel, stride or dilation that is zero or negative.
    #[error("{attribute}[{axis}] is {value}, but must be at least 1")]
    NotPositive {
        /// The attribute's ONNX name.
        attribute: &'static str,
        /// The spatial axis.
        axis: usize,
        /// The value as given.
        value: i64,
    },
    /// A negative pad or extent: `pads`, `output_size` or `output_shape`.
    #[error("{attribute}[{axis}] is {value}, but must not be negative")]
    Negative {
        /// The attribute's ONNX name: `pads`, `output_size` or `output_shape`.
        attribute: &'static str,
        /// The position in the attribute's list.
        axis: usize,
        /// The value as given.
        value: i64,
    },
    /// An anchor that is no element of its box.
    #[error("anchor[{axis}] is {anchor}, outside a box of extent {extent}")]
    AnchorOutside {
        /// The spatial axis.
        axis: usize,
        /// The anchor as given.
        anchor: i64,
        /// The box's extent on the axis.
        extent: i64,
    },
    /// Iterations of a box below 1.
    #[error("iterations is {iterations}, but must be at least 1 (OpenCV's 0 gives back X)")]
    Iterations {
        /// The number as given.
        iterations: i64,
    },
    /// A box, or iterations of one, so large that positions do not fit 64 bits.
    #[error("axis {axis}: a box of extent {extent} with iterations {iterations} exceeds 64-bit positions")]
    BoxOverflow {
        /// The spatial axis.
        axis: usize,
        /// The box's extent on the axis.
        extent: i64,
        /// The number of iterations.
        iterations: i64,
    },
    /// Non-zero pads together with an `auto_pad` that computes its own.
    #[error("pads[{position}] is {value}, but auto_pad {auto_pad} computes the pads itself")]
    PadsWithAutoPad {
        /// The `auto_pad` as given.
        auto_pad: &'static str,
        /// The position in `pads`.
        position: usize,
        /// The pad as given.
        value: i64,
    },
    /// A pad beyond the limit of the peer that `pads_limit` names.
    #[error("pads[{position}] is {value}, above the limit of {limit} that pads_limit sets")]
    PadExceedsLimit {
        /// The position in `pads`.
        position: usize,
        /// The pad as given.
        value: i64,
        /// The largest pad accepted.
        limit: i64,
    },
    /// A tensor with too few or too many axes.
    #[error("shape has {rank} axes, expected N, C and 1 to {max_spatial} spatial axes")]
    Rank {
        /// The number of axes of the shape, including N and C.
        rank: usize,
        /// The largest number of spatial axes.
        max_spatial: usize,
    },
    /// A spatial extent of zero in the input.
    #[error("spatial axis {axis} of the input has extent 0 (shape {shape:?})")]
    ZeroExtent {
        /// The spatial axis.
        axis: usize,
        /// The shape as given.
        shape: Vec<usize>,
    },
    /// A window larger than the padded input, so that the output's extent would be negative (or zero, where
    /// [`SizeRounding::FloorPositive`](crate::SizeRounding::FloorPositive) asks for a positive one).
    #[error("axis {axis}: the effective kernel {effective_kernel} exceeds the padded input {padded_input}")]
    KernelExceedsInput {
        /// The spatial axis.
        axis: usize,
        /// `(kernel - 1) * dilation + 1`.
        effective_kernel: i64,
        /// Input extent plus both pads.
        padded_input: i64,
    },
    /// Attributes so large that positions do not fit 64 bits.
    #[error(
        "axis {axis}: kernel_shape {kernel}, strides {stride}, dilations {dilation} and pads {pads:?} on extent \
         {input} exceed 64-bit positions"
    )]
    GeometryOverflow {
        /// The spatial axis.
        axis: usize,
        /// The input extent.
        input: usize,
        /// The kernel.
        kernel: i64,
        /// The stride.
        stride: i64,
        /// The dilation.
        dilation: i64,
        /// The begin and the end pad.
        pads: [i64; 2],
    },
    /// A shape whose product does not fit 64-bit byte counts.
    #[error("shape {shape:?} has more elements than 64-bit byte counts hold")]
    ShapeOverflow {
        /// The shape.
        shape: Vec<usize>,
    },
    /// The extent that MaxUnpool infers from X and its attributes is below one.
    #[error("axis {axis}: the inferred output extent is {inferred}, but must be at least 1")]
    InferredNotPositive {
        /// The spatial axis.
        axis: usize,
        /// `(input - 1) * stride - pads + kernel`.
        inferred: i64,
    },
    /// An `output_shape` below what MaxUnpool infers, on one axis.
    #[error("axis {axis}: output_shape {given} is below the inferred extent {inferred}")]
    OutputShapeTooSmall {
        /// The spatial axis.
        axis: usize,
        /// The extent as given.
        given: usize,
        /// The extent inferred from X.
        inferred: i64,
    },
    /// An `output_shape` with fewer elements than MaxUnpool infers (onnxruntime's rule).
    #[error("output_shape has {given} elements a plane, below the inferred {}", amount(*inferred, "2^64 or more"))]
    OutputCountTooSmall {
        /// The elements of one plane as given.
        given: u64,
        /// The elements of one plane as inferred.
        inferred: u64,
    },
    /// An `output_shape` whose N or C differs from X's.
    #[error("output_shape starts with {given:?}, but X has N, C = {expected:?}")]
    OutputShapeOuter {
        /// N and C as given.
        given: [usize; 2],
        /// N and C of X.
        expected: [usize; 2],
    },
    /// X does not have the shape that the pool to be inverted gives.
    #[error("the pool to be inverted gives {expected:?}, but X is {actual:?}")]
    InverseShape {
        /// The pool's output shape.
        expected: Vec<usize>,
        /// X's shape.
        actual: Vec<usize>,
    },
    /// A pool that can have empty windows, whose index could be mistaken for an element's, cannot be inverted.
    #[error("the pool can have empty windows, and its empty_index is {empty_index}; only minus_one can be inverted")]
    NotInvertible {
        /// The pool's option.
        empty_index: crate::options::EmptyIndex,
    },
    /// Peaks of a pool whose Y has another shape than its X.
    #[error("peaks need a pool whose Y has the shape of its X; of an X of {input:?} this one makes {output:?}")]
    NotEachElement {
        /// The map's shape.
        input: Vec<usize>,
        /// The shape that the pool gives.
        output: Vec<usize>,
    },
    /// Two index conventions that count tensors of different sizes.
    #[error("indices of a tensor {from:?} cannot become indices of a tensor {to:?}")]
    SpaceMismatch {
        /// N, C and the extents of the first.
        from: Vec<usize>,
        /// N, C and the extents of the second.
        to: Vec<usize>,
    },
    /// Indices that count in another way than the operator that reads them.
    #[error("the indices count {actual}, but the operator counts {expected}")]
    IndexSpaceMismatch {
        /// The convention of the operator, as [`IndexSpace`](crate::IndexSpace) is displayed.
        expected: String,
        /// The convention of the indices, likewise.
        actual: String,
    },
    /// An index tensor whose N, C or number of axes differs from its convention's.
    #[error("an index tensor of shape {shape:?} cannot hold indices of a tensor {space:?}")]
    IndexShape {
        /// The index tensor's shape, in its layout.
        shape: Vec<usize>,
        /// N, C and the extents that the convention counts.
        space: Vec<usize>,
    },
    /// 32-bit indices where there are more than 2^31 - 1.
    #[error("i32 indices cannot address {index_count} elements")]
    IndexTypeTooNarrow {
        /// The number of elements that the index convention counts through.
        index_count: u64,
    },
    /// The indices of empty windows would not fit the index type.
    #[error("the index {index} of an empty window does not fit {}", .index_type.name())]
    EmptyIndexOverflow {
        /// The index in exact arithmetic.
        index: i128,
        /// The requested index type.
        index_type: crate::element::IndexType,
    },
    /// Two options that exclude each other.
    #[error("{first} excludes {second}")]
    Combination {
        /// One option.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A value of empty windows that the element type does not have.
    #[error("empty_value: {empty_value} is not defined for {dtype}")]
    EmptyValueType {
        /// The option.
        empty_value: crate::options::EmptyValue,
        /// The element type.
        dtype: DType,
    },
    /// An activation that does not exist for the element type.
    #[error("{activation} is not defined for {dtype}")]
    ActivationType {
        /// The activation's ONNX name.
        activation: &'static str,
        /// The element type.
        dtype: DType,
    },
    /// An activation parameter that is not a number.
    #[error("activation_params[{position}] is not a number")]
    ActivationParameter {
        /// The position in `activation_params`.
        position: usize,
    },
    /// A slice whose length is not the product of its shape.
    #[error("shape {shape:?} needs {expected} elements, but data has {actual}")]
    DataLength {
        /// The shape.
        shape: Vec<usize>,
        /// Its product.
        expected: u64,
        /// The slice's length.
        actual: usize,
    },
    /// Bytes that are not as many as the elements of their shape have.
    #[error("{dtype} elements of the shape {shape:?} have {expected} bytes, but the slice has {actual}")]
    ByteLength {
        /// The element type.
        dtype: DType,
        /// The shape.
        shape: Vec<usize>,
        /// The bytes of its elements.
        expected: u64,
        /// The slice's length.
        actual: usize,
    },
    /// A node of a model whose operator is not one of this crate's, or not in this opset.
    #[error("there is no operator {op_type:?} of the domain {domain:?} in opset {opset}")]
    UnknownOperator {
        /// The node's `op_type`.
        op_type: String,
        /// The node's domain.
        domain: String,
        /// The opset of that domain which the model imports.
        opset: i64,
    },
    /// An attribute or an output of a node that its opset does not have yet.
    #[error("{operator} has {what} since opset {since}, but the node is of opset {opset}")]
    NotInOpset {
        /// The operator's ONNX name.
        operator: &'static str,
        /// The attribute or the output.
        what: &'static str,
        /// The first opset that has it.
        since: i64,
        /// The node's opset.
        opset: i64,
    },
    /// An opset that ONNX had not published when this version of the crate was written, so that its rules are not
    /// known.
    #[error("the node is of opset {opset}, and opsets up to {newest} are known")]
    UnknownOpset {
        /// The node's opset.
        opset: i64,
        /// The newest opset whose rules are known.
        newest: i64,
    },
    /// A node or a call with too few or too many tensors.
    #[error("{operator}: expected {expected} {what}, got {actual}")]
    OperandCount {
        /// The operator's name.
        operator: &'static str,
        /// `inputs` or `outputs`.
        what: &'static str,
        /// The counts that are valid.
        expected: &'static str,
        /// The number given.
        actual: usize,
    },
    /// A node's input of another type or shape than its operator takes.
    #[error("{operator}: {operand} is {actual}, expected {expected}")]
    OperandType {
        /// The operator's ONNX name.
        operator: &'static str,
        /// The input's ONNX name.
        operand: &'static str,
        /// What the operator takes.
        expected: &'static str,
        /// The element type and the shape as given.
        actual: String,
    },
    /// An array whose elements do not lie in row-major order without gaps.
    #[error("an array of shape {shape:?} with the strides {strides:?} is not dense and row-major")]
    NotDense {
        /// The array's shape.
        shape: Vec<usize>,
        /// Its strides, in elements.
        strides: Vec<isize>,
    },
    /// The plan is valid but exceeds a limit of the device, or the 2^31 elements that a kernel can count.
    #[error("{what}: {} needed, but the limit is {}", amount(*needed, "2^64 or more"), amount(*limit, "2^64 - 1"))]
    ExceedsLimit {
        /// The limit's field in `Limits` or `wgpu::Limits`; or the quantity that is too large, with
        /// the limit's field in parentheses.
        what: &'static str,
        /// The amount needed; `u64::MAX` if it is that or more.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// The kernel that was asked for, a family of a GPU's kernels or a kernel of the CPU backend, cannot compute the
    /// plan.
    #[error("the kernel {kernel} does not compute this plan: {reason}")]
    KernelDoesNotApply {
        /// The name of the kernel, or of the family.
        kernel: &'static str,
        /// The reason.
        reason: &'static str,
    },
    /// The plan is valid but no kernel of a GPU computes it; the CPU does.
    #[error("not computed on a GPU: {what}")]
    NotOnGpu {
        /// The part of the plan that is not computed on a GPU.
        what: &'static str,
    },
}

/// What the values of a list attribute stand for.
fn in_words(attribute: &str) -> &'static str {
    match attribute {
        "pads" => "(all begins, then all ends)",
        "output_shape" => "(N, C and the spatial extents)",
        "activation_params" => "at most",
        _ => "(one for each spatial axis)",
    }
}

/// An amount in an error; one that has saturated is no number that anyone gave.
fn amount(amount: u64, saturated: &str) -> String {
    if amount == u64::MAX { saturated.to_owned() } else { amount.to_string() }
}

impl PlanError {
    /// Refuses more of something than a limit allows.
    #[doc(hidden)]
    pub fn within(what: &'static str, needed: u64, limit: u64) -> Result<(), PlanError> {
        if needed > limit { Err(PlanError::ExceedsLimit { what, needed, limit }) } else { Ok(()) }
    }
}
