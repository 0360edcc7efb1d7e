//! ONNX vocabulary: attributes of a node, activations, and options and element types read from their names.

use std::fmt;
use std::str::FromStr;

use crate::element::DType;
use crate::error::PlanError;
use crate::options::{
    AutoPad, CeilRule, Duplicates, EmptyIndex, EmptyValue, IndexFlattening, Layout, NanPolicy, OutOfBounds,
    OutsideWindow, PadsLimit, Plateaus, Preset, SamePadding, SizeRounding, StorageOrder, UnpoolMinSize, UnpoolSpace,
};

/// Values from their names.
macro_rules! parse_names {
    ($($type:ident),+) => {$(
        impl FromStr for $type {
            type Err = PlanError;

            /// Parses the name exactly; case matters.
            fn from_str(text: &str) -> Result<Self, PlanError> {
                let unknown = || PlanError::UnknownValue {
                    attribute: $type::ATTRIBUTE,
                    value: text.to_owned(),
                    expected: $type::NAMES,
                };
                $type::ALL.iter().copied().find(|value| value.name() == text).ok_or_else(unknown)
            }
        }

        /// The name, as it is parsed.
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(self.name())
            }
        }
    )+};
}

parse_names!(
    AutoPad,
    CeilRule,
    SamePadding,
    SizeRounding,
    Layout,
    NanPolicy,
    EmptyValue,
    EmptyIndex,
    IndexFlattening,
    StorageOrder,
    UnpoolSpace,
    UnpoolMinSize,
    Duplicates,
    OutOfBounds,
    OutsideWindow,
    PadsLimit,
    Plateaus,
    Preset,
    DType
);

/// A function applied to Y after the maximum or the scatter, as onnxruntime fuses it in `com.ms.internal.nhwc`.
///
/// Indices are unchanged. Parameters are f32. A value that the function does not change keeps its bits, NaN and -0
/// included.
///
/// Relu and Clip compare and are exact on every path; integers have these two only. The other four round. The CPU
/// computes them in f32 for f16, bf16 and f32 and in f64 for f64. A GPU may differ by units in the last place of the
/// dtype: for LeakyRelu and HardSigmoid (whose product and sum may be fused) by at most 1, for Tanh and Sigmoid by 1 in
/// f16 and bf16 and by 8 in f32. A GPU may also treat a subnormal f32 as zero, before and after it computes. In f64
/// these four fail on a GPU with [`PlanError::NotOnGpu`].
///
/// ```
/// use wgpu_pooling::Activation;
/// assert_eq!(Activation::from_onnx("Clip", &[0.0, 6.0])?, Activation::Clip { min: 0.0, max: 6.0 });
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub enum Activation {
    /// None: Y is the maximum itself.
    #[default]
    Identity,
    /// `x < 0 ? +0 : x`. Exact for every dtype.
    Relu,
    /// `x < min ? min : x > max ? max : x`. Exact for every dtype.
    Clip {
        /// The lower bound.
        min: f32,
        /// The upper bound.
        max: f32,
    },
    /// `x >= 0 ? x : alpha * x`.
    LeakyRelu {
        /// The slope below zero.
        alpha: f32,
    },
    /// `alpha * x + beta`, kept between 0 and 1.
    HardSigmoid {
        /// The slope.
        alpha: f32,
        /// The value at zero.
        beta: f32,
    },
    /// The hyperbolic tangent.
    Tanh,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
}

impl Activation {
    const NAMES: &'static str = "Relu, Tanh, Sigmoid, LeakyRelu, Clip, HardSigmoid";

    /// The activation of the attributes `activation` and `activation_params`.
    ///
    /// Absent parameters: alpha 0.01 for LeakyRelu, alpha 0.2 and beta 0.5 for HardSigmoid, an unbounded Clip.
    ///
    /// # Errors
    /// [`PlanError::UnknownValue`] for another name, [`PlanError::AttributeLength`] for too many parameters,
    /// [`PlanError::ActivationParameter`] for a NaN.
    ///
    /// ```
    /// use wgpu_pooling::Activation;
    ///
    /// assert_eq!(Activation::from_onnx("LeakyRelu", &[])?, Activation::LeakyRelu { alpha: 0.01 });
    /// assert!(Activation::from_onnx("Relu", &[0.1]).is_err(), "Relu has no parameter");
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn from_onnx(name: &str, parameters: &[f32]) -> Result<Activation, PlanError> {
        let or = |position: usize, default: f32| parameters.get(position).copied().unwrap_or(default);
        let (activation, count) = match name {
            "Relu" => (Activation::Relu, 0),
            "Tanh" => (Activation::Tanh, 0),
            "Sigmoid" => (Activation::Sigmoid, 0),
            "LeakyRelu" => (Activation::LeakyRelu { alpha: or(0, 0.01) }, 1),
            "Clip" => (Activation::Clip { min: or(0, f32::NEG_INFINITY), max: or(1, f32::INFINITY) }, 2),
            "HardSigmoid" => (Activation::HardSigmoid { alpha: or(0, 0.2), beta: or(1, 0.5) }, 2),
            _ => {
                let (attribute, expected) = ("activation", Self::NAMES);
                return Err(PlanError::UnknownValue { attribute, value: name.to_owned(), expected });
            }
        };
        if parameters.len() > count {
            let (attribute, actual) = ("activation_params", parameters.len());
            return Err(PlanError::AttributeLength { attribute, expected: count, actual });
        }
        activation.check_parameters()?;
        Ok(activation)
    }

    fn parameters(self) -> [f32; 2] {
        match self {
            Activation::Clip { min, max } => [min, max],
            Activation::HardSigmoid { alpha, beta } => [alpha, beta],
            Activation::LeakyRelu { alpha } => [alpha, 0.0],
            Activation::Identity | Activation::Relu | Activation::Tanh | Activation::Sigmoid => [0.0, 0.0],
        }
    }

    /// Refuses NaN parameters, which compare as false with everything.
    pub(crate) fn check_parameters(self) -> Result<(), PlanError> {
        match self.parameters().iter().position(|parameter| parameter.is_nan()) {
            Some(position) => Err(PlanError::ActivationParameter { position }),
            None => Ok(()),
        }
    }

    /// The ONNX name; `Identity` for none.
    pub const fn name(self) -> &'static str {
        match self {
            Activation::Identity => "Identity",
            Activation::Relu => "Relu",
            Activation::Clip { .. } => "Clip",
            Activation::LeakyRelu { .. } => "LeakyRelu",
            Activation::HardSigmoid { .. } => "HardSigmoid",
            Activation::Tanh => "Tanh",
            Activation::Sigmoid => "Sigmoid",
        }
    }
}

/// Parameters are equal if their bits are. Backends keep the plans of earlier calls, and bounds of -0 and of +0 give
/// different bits; so do subnormal bounds, which some processors would compare as zeros.
impl PartialEq for Activation {
    fn eq(&self, other: &Activation) -> bool {
        let bits = |activation: &Activation| activation.parameters().map(f32::to_bits);
        std::mem::discriminant(self) == std::mem::discriminant(other) && bits(self) == bits(other)
    }
}

/// The values of a list attribute, such as `kernel_shape`: any array, slice or vector of `i64`.
///
/// ```
/// use wgpu_pooling::{Ints, MaxPool};
/// fn tiled(kernel: &(impl Ints + ?Sized)) -> MaxPool {
///     MaxPool::new(kernel).strides(kernel)
/// }
/// let extent: usize = 3;
/// assert_eq!(tiled(&vec![3, 3]), tiled(&[extent as i64; 2]));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of `i64`",
    label = "attributes are `i64`, as ONNX's are",
    note = "lists are such as `[3, 3]`; of an extent of `usize`, take `extent as i64`"
)]
pub trait Ints: AsRef<[i64]> {}

#[diagnostic::do_not_recommend]
impl<T: AsRef<[i64]> + ?Sized> Ints for T {}

/// The value of a node's attribute, for [`MaxPool::from_onnx`](crate::MaxPool::from_onnx) and its siblings.
///
/// ```
/// use wgpu_pooling::{Attribute, AutoPad, MaxPool};
///
/// let node = [("kernel_shape", Attribute::Ints(vec![2])), ("auto_pad", Attribute::String("VALID".to_owned()))];
/// assert_eq!(MaxPool::from_onnx(node)?, MaxPool::new([2]).auto_pad(AutoPad::Valid));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Attribute {
    /// `INT`
    Int(i64),
    /// `INTS`
    Ints(Vec<i64>),
    /// `FLOATS`
    Floats(Vec<f32>),
    /// `STRING`
    String(String),
    /// Any other kind, such as `FLOAT`, `STRINGS` or `TENSOR`: no attribute of these operators is of it, and a node
    /// that has one is refused.
    Other,
}

impl Attribute {
    fn kind(&self) -> &'static str {
        match self {
            Attribute::Int(_) => "an integer",
            Attribute::Ints(_) => "integers",
            Attribute::Floats(_) => "floats",
            Attribute::String(_) => "a string",
            Attribute::Other => "another kind",
        }
    }

    fn wrong_kind<T>(&self, name: &str, expected: &'static str) -> Result<T, PlanError> {
        Err(PlanError::AttributeKind { name: name.to_owned(), expected, actual: self.kind() })
    }

    pub(crate) fn int(&self, name: &str) -> Result<i64, PlanError> {
        if let Attribute::Int(value) = self { Ok(*value) } else { self.wrong_kind(name, "an integer") }
    }

    pub(crate) fn ints(&self, name: &str) -> Result<&[i64], PlanError> {
        if let Attribute::Ints(values) = self { Ok(values) } else { self.wrong_kind(name, "integers") }
    }

    pub(crate) fn floats(&self, name: &str) -> Result<&[f32], PlanError> {
        if let Attribute::Floats(values) = self { Ok(values) } else { self.wrong_kind(name, "floats") }
    }

    pub(crate) fn string(&self, name: &str) -> Result<&str, PlanError> {
        if let Attribute::String(value) = self { Ok(value) } else { self.wrong_kind(name, "a string") }
    }
}

/// The storage order of the ONNX attribute's number.
pub(crate) fn storage_order(number: i64) -> Result<StorageOrder, PlanError> {
    let orders = [StorageOrder::RowMajor, StorageOrder::ColumnMajor];
    numbered("storage_order", number, orders, "0 (row major) or 1 (column major)")
}

/// The rounding rule of the ONNX attribute's number.
pub(crate) fn ceil_mode(number: i64) -> Result<CeilRule, PlanError> {
    numbered("ceil_mode", number, [CeilRule::Floor, CeilRule::CeilDrop], "0 (floor) or 1 (ceil)")
}

fn numbered<T: Copy>(
    attribute: &'static str,
    number: i64,
    values: [T; 2],
    expected: &'static str,
) -> Result<T, PlanError> {
    let value = usize::try_from(number).ok().and_then(|number| values.get(number).copied());
    value.ok_or_else(|| PlanError::UnknownValue { attribute, value: number.to_string(), expected })
}
