//! ONNX vocabulary: the values that attributes and options take, their defaults and their names.

use std::str::FromStr;

use crate::element::DType;
use crate::error::PlanError;

/// Declares an option: an enum with documented values, each with the name by which it is written and parsed.
macro_rules! option {
    ($(#[$meta:meta])* $type:ident, $attribute:literal {
        $($(#[$value_meta:meta])* $value:ident = $name:literal),+ $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub enum $type {
            $($(#[$value_meta])* $value),+
        }

        impl $type {
            /// Every value, the default first.
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::", stringify!($type), ";")]
            #[doc = concat!(" assert_eq!(", stringify!($type), "::ALL[0], ", stringify!($type), "::default());")]
            /// ```
            pub const ALL: &'static [$type] = &[$($type::$value),+];

            /// The value's name, as it is parsed.
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::", stringify!($type), ";")]
            #[doc = concat!(" for value in ", stringify!($type), "::ALL {")]
            ///     assert_eq!(value.name().parse(), Ok(*value));
            /// }
            #[doc = option!(@first $type, $($name),+)]
            /// ```
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name),+
                }
            }
        }

        impl FromStr for $type {
            type Err = PlanError;

            /// Parses the name exactly; case matters.
            fn from_str(text: &str) -> Result<Self, PlanError> {
                match text {
                    $($name => Ok($type::$value),)+
                    _ => Err(PlanError::UnknownValue {
                        attribute: $attribute,
                        value: text.to_owned(),
                        expected: option!(@names $($name),+),
                    }),
                }
            }
        }
    };
    (@names $first:literal $(, $rest:literal)*) => {
        concat!($first $(, ", ", $rest)*)
    };
    (@first $type:ident, $first:literal $(, $rest:literal)*) => {
        concat!(" assert_eq!(", stringify!($type), "::default().name(), \"", $first, "\");")
    };
}

option! {
    /// How pads come about (ONNX MaxPool `auto_pad`).
    ///
    /// ```
    /// use wgpu_pooling::AutoPad;
    /// assert_eq!("SAME_UPPER".parse(), Ok(AutoPad::SameUpper));
    /// assert!("same_upper".parse::<AutoPad>().is_err());
    /// ```
    AutoPad, "auto_pad" {
        /// The pads are those of the attribute `pads`.
        #[default]
        NotSet = "NOTSET",
        /// No pads.
        Valid = "VALID",
        /// `ceil(input / stride)` outputs; an odd padding cell goes to the end.
        SameUpper = "SAME_UPPER",
        /// `ceil(input / stride)` outputs; an odd padding cell goes to the beginning.
        SameLower = "SAME_LOWER",
    }
}

option! {
    /// How the number of outputs of an axis is rounded.
    ///
    /// `ceil_mode` 0 is [`Floor`](CeilRule::Floor) and 1 is [`CeilDrop`](CeilRule::CeilDrop): onnxruntime and PyTorch drop
    /// the window that would start in the end padding for every opset, and the text does since opset 22 (onnx#5711, onnx#5741).
    ///
    /// ```
    /// use wgpu_pooling::{CeilRule, DType, MaxPool};
    ///
    /// // Windows of 2, 3 apart, on 9 elements: a fourth would start where the elements end.
    /// for (rule, outputs) in [(CeilRule::Floor, 3), (CeilRule::CeilDrop, 3), (CeilRule::CeilLiteral, 4)] {
    ///     let plan = MaxPool::new([2]).strides([3]).ceil_rule(rule).plan(&[1, 1, 9], DType::F32, None)?;
    ///     assert_eq!(plan.output_shape(), &[1, 1, outputs]);
    /// }
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    CeilRule, "ceil_rule" {
        /// `floor((padded - effective kernel) / stride) + 1`.
        #[default]
        Floor = "floor",
        /// Rounded up, less one if the last window would start in the end padding.
        CeilDrop = "ceil_drop",
        /// Rounded up, as the formula of opsets 10 to 12 and OpenVINO's `CEIL` have it.
        CeilLiteral = "ceil_literal",
    }
}

option! {
    /// How `SAME_UPPER` and `SAME_LOWER` size their padding.
    ///
    /// ```
    /// use wgpu_pooling::{AutoPad, DType, MaxPool, SamePadding};
    ///
    /// for (rule, outputs) in [(SamePadding::SpecClamped, 5), (SamePadding::OrtUndilated, 4)] {
    ///     let pool = MaxPool::new([2]).dilations([2]).auto_pad(AutoPad::SameUpper).same_padding(rule);
    ///     assert_eq!(pool.plan(&[1, 1, 5], DType::F32, None)?.output_shape(), &[1, 1, outputs]);
    /// }
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    SamePadding, "same_pad" {
        /// From the effective (dilated) kernel; a negative total counts as zero. ONNX shape inference, OpenVINO, TensorFlow.
        #[default]
        SpecClamped = "spec_clamped",
        /// From the undilated kernel, without a clamp: onnxruntime (onnxruntime#10083).
        OrtUndilated = "ort_undilated",
    }
}

option! {
    /// How a quotient below zero is rounded when the window exceeds the padded input.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, SizeRounding};
    ///
    /// // A window of 5, 2 apart, on 4 elements: the quotient is -1 / 2.
    /// let plan = |rule| MaxPool::new([5]).strides([2]).size_rounding(rule).plan(&[1, 1, 4], DType::F32, None);
    /// assert_eq!(plan(SizeRounding::Floor)?.output_shape(), &[1, 1, 0]);
    /// assert_eq!(plan(SizeRounding::Trunc)?.output_shape(), &[1, 1, 1]);
    /// assert!(plan(SizeRounding::FloorPositive).is_err());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    SizeRounding, "size_rounding" {
        /// To minus infinity: such an axis has no output, or is an error.
        #[default]
        Floor = "floor",
        /// Toward zero, as C++ divides: onnxruntime gives one window, partly outside (onnxruntime#25234).
        Trunc = "trunc",
        /// To minus infinity, and an axis without outputs is an error: PyTorch, OpenVINO.
        FloorPositive = "floor_positive",
    }
}

option! {
    /// Where X and Y, or indices, keep their channels.
    ///
    /// ```
    /// use wgpu_pooling::{DType, Layout, MaxPool};
    ///
    /// // Six pixels of three channels.
    /// let plan = MaxPool::new([2]).layout(Layout::Nhwc).plan(&[1, 6, 3], DType::F32, None)?;
    /// assert_eq!(plan.output_shape(), &[1, 5, 3]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    Layout, "layout" {
        /// N, C, then the spatial axes.
        #[default]
        Nchw = "NCHW",
        /// N, the spatial axes, then C.
        Nhwc = "NHWC",
    }
}

option! {
    /// What a NaN in a window does.
    ///
    /// ```
    /// use wgpu_pooling::{reference, DType, IndexType, MaxPool, NanPolicy, TensorView};
    ///
    /// let x = TensorView::new([1, 1, 3], &[f32::NAN, 1.0, f32::NAN])?;
    /// for (policy, winner) in [(NanPolicy::SeedFirst, 0), (NanPolicy::PropagateLast, 2), (NanPolicy::SeedLowest, 1)] {
    ///     let plan = MaxPool::new([3]).nan_policy(policy).plan(x.shape(), DType::F32, Some(IndexType::I64))?;
    ///     let (_, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.clone())?;
    ///     assert_eq!(indices.data(), &[winner]);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    NanPolicy, "max_rule" {
        /// A NaN wins only as the first valid element of its window: onnxruntime with Indices, TensorFlow, OpenVINO adaptive.
        #[default]
        SeedFirst = "seed_first",
        /// A NaN always wins, the last one of the window: PyTorch.
        PropagateLast = "propagate_last",
        /// NaN is ignored, and so is everything not above the lowest value: OpenVINO MaxPool.
        SeedLowest = "seed_lowest",
    }
}

option! {
    /// The value of a window wholly in padding.
    ///
    /// ```
    /// use wgpu_pooling::{reference, DType, EmptyValue, MaxPool, TensorView};
    ///
    /// let x = TensorView::new([1, 1, 1], &[7.0f32])?;
    /// for (rule, value) in [(EmptyValue::NegInf, f32::NEG_INFINITY), (EmptyValue::LowestFinite, f32::MIN)] {
    ///     // The first of the two windows is the padding cell.
    ///     let plan = MaxPool::new([1]).pads([1, 0]).empty_value(rule).plan(x.shape(), DType::F32, None)?;
    ///     assert_eq!(reference::max_pool(&plan, x.clone())?.data(), &[value, 7.0]);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    EmptyValue, "empty_value" {
        /// Minus infinity; integers their minimum.
        #[default]
        NegInf = "neg_inf",
        /// The lowest finite value; integers their minimum.
        LowestFinite = "lowest_finite",
        /// The lowest finite value of the type that is computed in. For f16 and bf16 that is f32, whose lowest value
        /// becomes minus infinity on its way back; everywhere else it is [`LowestFinite`](EmptyValue::LowestFinite).
        /// onnxruntime, OpenVINO.
        LowestWidened = "lowest_widened",
    }
}

impl EmptyValue {
    /// The bits of this value in an element type.
    pub(crate) fn bits(self, dtype: DType) -> u64 {
        match self {
            EmptyValue::NegInf => dtype.negative_infinity_bits(),
            EmptyValue::LowestFinite => dtype.lowest_finite_bits(),
            EmptyValue::LowestWidened => dtype.seed_bits(),
        }
    }
}

option! {
    /// The index of a window wholly in padding.
    ///
    /// ```
    /// use wgpu_pooling::{reference, DType, EmptyIndex, IndexType, MaxPool, TensorView};
    ///
    /// // The second plane begins at 3; its first window is the padding cell, and its taps would be 2 apart.
    /// let x = TensorView::new([1, 2, 3], &[0u8; 6])?;
    /// for (rule, index) in EmptyIndex::ALL.iter().zip([-1, 2, 4, 3]) {
    ///     let pool = MaxPool::new([1]).dilations([2]).pads([1, 0]).empty_index(*rule);
    ///     let plan = pool.plan(x.shape(), DType::U8, Some(IndexType::I64))?;
    ///     let (_, indices) = reference::max_pool_with_indices::<u8, i64>(&plan, x.clone())?;
    ///     assert_eq!(indices.data()[4], index, "{rule:?}");
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    EmptyIndex, "empty_index" {
        /// -1, which no element has.
        #[default]
        MinusOne = "minus_one",
        /// The flat index of the coordinates (-1, .., -1): onnxruntime.
        OrtUnderflow = "ort_underflow",
        /// The flat index of the first tap that is not negative, which may lie beyond the plane: PyTorch.
        ClampedStart = "clamped_start",
        /// Element 0 of the window's plane: OpenVINO.
        UnitBase = "unit_base",
    }
}

option! {
    /// Through what a flat index counts.
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, IndexSpace};
    ///
    /// // The last element of two batch items of two channels of four elements.
    /// let last = |flatten| IndexSpace::new(2, 2, [4]).with_flatten(flatten).encode(1, 1, &[3]);
    /// assert_eq!(last(IndexFlattening::Tensor), 15);
    /// assert_eq!(last(IndexFlattening::Batch), 7);
    /// assert_eq!(last(IndexFlattening::Plane), 3);
    /// ```
    IndexFlattening, "flatten" {
        /// The whole tensor: ONNX.
        #[default]
        Tensor = "tensor",
        /// One batch item: TensorFlow.
        Batch = "batch",
        /// One plane, that is one channel of one batch item: PyTorch, OpenVINO AdaptiveMaxPool.
        Plane = "plane",
    }
}

option! {
    /// The order in which spatial coordinates are flattened (ONNX `storage_order`: 0 row major, 1 column major).
    ///
    /// ```
    /// use wgpu_pooling::{IndexSpace, StorageOrder};
    ///
    /// // The second element of the first of two rows of three.
    /// let index = |order| IndexSpace::new(1, 1, [2, 3]).with_order(order).encode(0, 0, &[0, 1]);
    /// assert_eq!((index(StorageOrder::RowMajor), index(StorageOrder::ColumnMajor)), (1, 2));
    /// ```
    StorageOrder, "storage_order" {
        /// The last spatial axis runs fastest.
        #[default]
        RowMajor = "row_major",
        /// The first spatial axis runs fastest. N and C are not affected.
        ColumnMajor = "column_major",
    }
}

option! {
    /// In which shape the indices of a MaxUnpool with `output_shape` are flat.
    ///
    /// The two differ only when `output_shape` is not the inferred shape (onnx#2398, onnx#8413). An unpool made from a
    /// pool needs neither: see [`MaxUnpool::inverse_of`](crate::MaxUnpool::inverse_of).
    ///
    /// ```
    /// use wgpu_pooling::{reference, DType, IndexType, MaxUnpool, TensorView, UnpoolSpace};
    ///
    /// // The attributes infer two rows of two, `output_shape` is two rows of three. Which element is number 2?
    /// let (x, indices) = (TensorView::new([1, 1, 1, 1], &[9u8])?, TensorView::new([1, 1, 1, 1], &[2i64])?);
    /// for (space, position) in [(UnpoolSpace::InferredTopLeft, 3), (UnpoolSpace::OutputShape, 2)] {
    ///     let unpool = MaxUnpool::new([2, 2]).output_shape([1, 1, 2, 3]).unpool_space(space);
    ///     let plan = unpool.plan(x.shape(), DType::U8, IndexType::I64)?;
    ///     assert_eq!(reference::max_unpool(&plan, x.clone(), indices.clone())?.data()[position], 9);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    UnpoolSpace, "unpool_space" {
        /// Flat in the inferred shape; the block is placed at the origin. The example of the published operator page.
        #[default]
        InferredTopLeft = "inferred_top_left",
        /// Flat in the given shape: onnxruntime, PyTorch, onnx since PR 8413.
        OutputShape = "output_shape",
    }
}

option! {
    /// How small an `output_shape` may be, compared with the inferred shape.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, UnpoolMinSize, UnpoolSpace};
    ///
    /// // The attributes infer 4 by 4; 2 by 8 has as many elements, but not as many rows.
    /// let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).output_shape([1, 1, 2, 8]);
    /// let fits = |rule| {
    ///     let unpool = unpool.clone().unpool_space(UnpoolSpace::OutputShape).unpool_min_size(rule);
    ///     unpool.plan(&[1, 1, 2, 2], DType::F32, IndexType::I64).is_ok()
    /// };
    /// assert_eq!(UnpoolMinSize::ALL.iter().map(|&rule| fits(rule)).collect::<Vec<_>>(), [false, true, true]);
    /// ```
    UnpoolMinSize, "unpool_min_size" {
        /// No axis below the inferred extent.
        #[default]
        PerAxis = "per_axis",
        /// Not fewer elements: onnxruntime.
        ElementCount = "element_count",
        /// Any size; indices are checked all the same.
        None = "none",
    }
}

option! {
    /// Which element wins when several indices of a MaxUnpool are equal.
    ///
    /// ```
    /// use wgpu_pooling::{reference, DType, Duplicates, IndexType, MaxUnpool, TensorView};
    ///
    /// let unpool = MaxUnpool::new([2]).strides([2]).duplicates(Duplicates::LastWins);
    /// let (x, indices) = (TensorView::new([1, 1, 2], &[5u8, 6])?, TensorView::new([1, 1, 2], &[1i64, 1])?);
    /// let plan = unpool.plan(x.shape(), DType::U8, IndexType::I64)?;
    /// assert_eq!(reference::max_unpool(&plan, x, indices)?.data(), &[0, 6, 0, 0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    Duplicates, "duplicates" {
        /// The one that comes last in (n, c, spatial) order, also for NHWC data: onnx.reference, onnxruntime.
        #[default]
        LastWins = "last_wins",
        /// Any of them, where the caller knows that they are equal or that there are none. It is a permission, not an order:
        /// the paths that exist today all do as `LastWins`.
        Any = "any",
    }
}

option! {
    /// What MaxUnpool does with negative or too large indices. Nothing outside the output is written either way.
    ///
    /// ```
    /// use wgpu_pooling::{reference, DType, IndexType, MaxUnpool, OutOfBounds, TensorView};
    ///
    /// let (x, indices) = (TensorView::new([1, 1, 2], &[5u8, 6])?, TensorView::new([1, 1, 2], &[1i64, 99])?);
    /// let plan = |rule| MaxUnpool::new([2]).out_of_bounds(rule).plan(&[1, 1, 2], DType::U8, IndexType::I64);
    /// let y = reference::max_unpool(&plan(OutOfBounds::Skip)?, x.clone(), indices.clone())?;
    /// assert_eq!(y.data(), &[0, 5, 0]);
    /// assert!(reference::max_unpool(&plan(OutOfBounds::Error)?, x, indices).is_err());
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    OutOfBounds, "out_of_bounds" {
        /// The call is an error that names the first offender's position and value.
        #[default]
        Error = "error",
        /// They are left out.
        Skip = "skip",
    }
}

option! {
    /// How large pads may be. Peers refuse pads that this crate computes; their presets refuse them as well.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, PadsLimit, PlanError};
    ///
    /// let plan = |limit| MaxPool::new([3]).pads([2, 2]).pads_limit(limit).plan(&[1, 1, 5], DType::F32, None);
    /// assert!(plan(PadsLimit::None).is_ok() && plan(PadsLimit::Ort).is_ok());
    /// assert_eq!(plan(PadsLimit::Torch), Err(PlanError::PadExceedsLimit { position: 0, value: 2, limit: 1 }));
    /// ```
    PadsLimit, "pads_limit" {
        /// Any size from zero.
        #[default]
        None = "none",
        /// Below the undilated kernel: onnxruntime.
        Ort = "ort",
        /// At most half the undilated kernel: PyTorch.
        Torch = "torch",
    }
}

/// A function applied to Y after the maximum or the scatter, as onnxruntime fuses it in `com.ms.internal.nhwc`.
///
/// Indices are not touched. Parameters are f32. A value that the function leaves alone keeps its bits, NaN and -0 included.
///
/// Relu and Clip compare and are exact on every path; integers know these two alone. The other four round: the CPU computes
/// them in f32 for f16, bf16 and f32 and in f64 for f64, and a GPU may differ by at most 1 unit in the last place of the dtype
/// for LeakyRelu and HardSigmoid (whose product and sum may be fused), and for Tanh and Sigmoid by 1 unit of f16 and bf16 and
/// 8 units of f32. Results below the smallest normal f32 may be zero there. A GPU computes no f64 ones: an error says so.
///
/// ```
/// use wgpu_pooling::Activation;
/// assert_eq!(Activation::from_onnx("Clip", &[0.0, 6.0])?, Activation::Clip { min: 0.0, max: 6.0 });
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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
                return Err(PlanError::UnknownValue {
                    attribute: "activation",
                    value: name.to_owned(),
                    expected: Self::NAMES,
                });
            }
        };
        if parameters.len() > count {
            return Err(PlanError::AttributeLength {
                attribute: "activation_params",
                expected: count,
                actual: parameters.len(),
            });
        }
        activation.check_parameters()?;
        Ok(activation)
    }

    /// Refuses parameters that are no numbers: they would compare as nothing.
    pub(crate) fn check_parameters(self) -> Result<(), PlanError> {
        let parameters = match self {
            Activation::Clip { min, max } => [min, max],
            Activation::HardSigmoid { alpha, beta } => [alpha, beta],
            Activation::LeakyRelu { alpha } => [alpha, 0.0],
            Activation::Identity | Activation::Relu | Activation::Tanh | Activation::Sigmoid => [0.0, 0.0],
        };
        match parameters.iter().position(|parameter| parameter.is_nan()) {
            Some(position) => Err(PlanError::ActivationParameter { position }),
            None => Ok(()),
        }
    }

    /// The ONNX name; `Identity` for none.
    ///
    /// ```
    /// use wgpu_pooling::Activation;
    /// assert_eq!(Activation::Clip { min: 0.0, max: 6.0 }.name(), "Clip");
    /// ```
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
pub enum Attribute {
    /// `INT`
    Int(i64),
    /// `INTS`
    Ints(Vec<i64>),
    /// `FLOATS`
    Floats(Vec<f32>),
    /// `STRING`
    String(String),
}

impl Attribute {
    fn kind(&self) -> &'static str {
        match self {
            Attribute::Int(_) => "an integer",
            Attribute::Ints(_) => "integers",
            Attribute::Floats(_) => "floats",
            Attribute::String(_) => "a string",
        }
    }

    fn wrong_kind(&self, name: &str, expected: &'static str) -> PlanError {
        PlanError::AttributeKind { name: name.to_owned(), expected, actual: self.kind() }
    }

    pub(crate) fn int(&self, name: &str) -> Result<i64, PlanError> {
        match self {
            Attribute::Int(value) => Ok(*value),
            other => Err(other.wrong_kind(name, "an integer")),
        }
    }

    pub(crate) fn ints(&self, name: &str) -> Result<&[i64], PlanError> {
        match self {
            Attribute::Ints(values) => Ok(values),
            other => Err(other.wrong_kind(name, "integers")),
        }
    }

    pub(crate) fn floats(&self, name: &str) -> Result<&[f32], PlanError> {
        match self {
            Attribute::Floats(values) => Ok(values),
            other => Err(other.wrong_kind(name, "floats")),
        }
    }

    pub(crate) fn string(&self, name: &str) -> Result<&str, PlanError> {
        match self {
            Attribute::String(value) => Ok(value),
            other => Err(other.wrong_kind(name, "a string")),
        }
    }
}

/// The storage order that the ONNX attribute's number means.
pub(crate) fn storage_order(number: i64) -> Result<StorageOrder, PlanError> {
    match number {
        0 => Ok(StorageOrder::RowMajor),
        1 => Ok(StorageOrder::ColumnMajor),
        other => Err(PlanError::UnknownValue {
            attribute: "storage_order",
            value: other.to_string(),
            expected: "0 (row major) or 1 (column major)",
        }),
    }
}

/// The rounding rule that the ONNX attribute's number means.
pub(crate) fn ceil_mode(number: i64) -> Result<CeilRule, PlanError> {
    match number {
        0 => Ok(CeilRule::Floor),
        1 => Ok(CeilRule::CeilDrop),
        other => Err(PlanError::UnknownValue {
            attribute: "ceil_mode",
            value: other.to_string(),
            expected: "0 (floor) or 1 (ceil)",
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_parses_its_own_name_and_nothing_else() {
        for &value in CeilRule::ALL {
            assert_eq!(value.name().parse(), Ok(value));
        }
        for &value in EmptyIndex::ALL {
            assert_eq!(value.name().parse(), Ok(value));
        }
        let error = "FULL".parse::<AutoPad>().unwrap_err();
        assert_eq!(
            error,
            PlanError::UnknownValue {
                attribute: "auto_pad",
                value: "FULL".into(),
                expected: "NOTSET, VALID, SAME_UPPER, SAME_LOWER"
            }
        );
    }

    #[test]
    fn numbers_outside_the_attribute_are_refused() {
        assert!(ceil_mode(2).is_err(), "onnxruntime takes 2 for floor; here it is refused");
        assert!(storage_order(-1).is_err());
    }

    #[test]
    fn activation_parameters_have_their_defaults_and_bounds() {
        assert_eq!(Activation::from_onnx("LeakyRelu", &[]), Ok(Activation::LeakyRelu { alpha: 0.01 }));
        assert_eq!(Activation::from_onnx("Clip", &[1.0]), Ok(Activation::Clip { min: 1.0, max: f32::INFINITY }));
        assert!(matches!(Activation::from_onnx("Relu", &[1.0]), Err(PlanError::AttributeLength { .. })));
        assert!(matches!(
            Activation::from_onnx("Clip", &[f32::NAN]),
            Err(PlanError::ActivationParameter { position: 0 })
        ));
        assert!(matches!(Activation::from_onnx("relu", &[]), Err(PlanError::UnknownValue { .. })));
    }
}
