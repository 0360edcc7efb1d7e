//! What is wrong with a model or with what was asked of it.

use wgpu_pooling_plan::{ExecuteError, PlanError};

/// The reason why a model cannot be read, or why a node of it has no plan.
///
/// ```
/// use wgpu_pooling::onnx::{Model, ModelError};
///
/// // Field 7 of a model is its graph, and this one says that it has 99 bytes.
/// let error = Model::from_onnx(vec![0x3A, 99]).unwrap_err();
/// assert_eq!(error, ModelError::Malformed { what: "a field is longer than its message", at: 2 });
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A file that cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A file that is no model, or none that this reader takes.
    #[error("{path}, which is read as an OpenVINO IR if its name ends in .xml, and as ONNX otherwise: {reason}")]
    Open {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: Box<ModelError>,
    },
    /// Bytes that are no model or tensor.
    #[error("{what}, at byte {at}")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where in the file.
        at: usize,
    },
    /// Text that is no OpenVINO IR.
    #[error("no OpenVINO IR: {0}")]
    Ir(String),
    /// More items than this reader takes.
    #[error("{found} {what}, and at most {limit} are read")]
    TooMany {
        /// What kind of items.
        what: &'static str,
        /// How many there are, at least.
        found: u64,
        /// How many are read.
        limit: u64,
    },
    /// A file that asks for more work than its length permits, such as functions that call each other without end.
    #[error("reading these {bytes} bytes takes more than the {limit} steps that they may take")]
    TooMuchWork {
        /// The length of the model's file.
        bytes: u64,
        /// The steps: a constant, and some for each byte. One takes a few nanoseconds.
        limit: u64,
    },
    /// A model without a graph.
    #[error("the model has no graph")]
    NoGraph,
    /// A node of a domain of which the model imports no opset.
    #[error("the model imports no opset of the domain {domain:?}")]
    NoOpset {
        /// The domain.
        domain: String,
    },
    /// An attribute in a function's body takes its value from the function's caller, but there is none.
    #[error("the attribute {name} is given by the caller of the function, and nothing calls it")]
    AttributeOfCaller {
        /// The attribute's name in the body.
        name: String,
    },
    /// An input whose element type, shape or values the model does not say.
    #[error("the model does not say the {what} of {operand} ({name:?}){}", remedy(what, symbols))]
    Unknown {
        /// The input's name in the operator's specification.
        operand: &'static str,
        /// What is not known: its element type, shape or values.
        what: &'static str,
        /// The value's name in the model.
        name: String,
        /// The names of extents to which the model gives no size.
        symbols: Vec<String>,
    },
    /// A size for a name that no extent has of the tensors that pooling nodes take.
    #[error("a size for {0:?}, but no input of a pooling node has an extent of this name")]
    NoSuchExtent(String),
    /// An element type that is none of this crate's.
    #[error("elements of the type {number} of TensorProto.DataType, which no operator here takes")]
    ElementType {
        /// The number in `TensorProto.DataType`.
        number: i64,
    },
    /// A tensor whose data are not as many bytes or numbers as its shape has elements.
    #[error("the tensor {name:?} has data of {actual} bytes, but its shape and type need {expected}")]
    TensorLength {
        /// The tensor's name.
        name: String,
        /// The bytes of its elements.
        expected: u64,
        /// The bytes that there are. Of numbers listed one by one, only those up to the first surplus one are counted.
        actual: u64,
    },
    /// Data outside the model's file that are refused or cannot be read.
    #[error("external data {location:?}: {reason}")]
    External {
        /// The location as the model gives it.
        location: String,
        /// Why they are not read.
        reason: String,
    },
    /// The node has no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The node was not computed.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
}

/// How a model gets what it does not say.
fn remedy(what: &str, symbols: &[String]) -> String {
    match (what, symbols) {
        ("values", _) => String::new(),
        (_, []) => ": onnx.shape_inference.infer_shapes writes shapes and types into ONNX models".to_owned(),
        _ => format!(": Model::with_sizes gives sizes to {symbols:?}"),
    }
}

/// Refuses more of something than a limit allows.
pub(super) fn at_most(what: &'static str, found: u64, limit: u64) -> Result<(), ModelError> {
    if found > limit { Err(ModelError::TooMany { what, found, limit }) } else { Ok(()) }
}
