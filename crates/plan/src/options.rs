//! Options for semantics that specifications leave open or on which runtimes disagree, each an enum whose values have
//! names.

use crate::element::DType;

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
            /// The option's name in errors, and the names of its values.
            pub(crate) const ATTRIBUTE: &str = $attribute;
            pub(crate) const NAMES: &str = option!(@names $($name),+);

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
    };
    (@names $first:literal $(, $rest:literal)*) => {
        concat!($first $(, ", ", $rest)*)
    };
    (@first $type:ident, $first:literal $(, $rest:literal)*) => {
        concat!(" assert_eq!(", stringify!($type), "::default().name(), \"", $first, "\");")
    };
}

option! {
    /// Which of the equal elements in a window are peaks ([`PeaksRequest::plateaus`](crate::PeaksRequest::plateaus)).
    /// Zeros of both signs are equal.
    ///
    /// ```
    /// use wgpu_pooling::{Dilate, Plateaus, Reference, TensorView};
    /// let (pool, x) = (Dilate::new([3]), TensorView::new(&[1, 1, 5], &[1, 4, 4, 4, 0])?);
    /// let found = |plateaus| pool.on(x).peaks().plateaus(plateaus).run_blocking(&Reference);
    /// assert_eq!((found(Plateaus::First)?.len(), found(Plateaus::All)?.len()), (1, 3));
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    Plateaus, "plateaus" {
        /// The first in row-major order, which a pool's index names: an equal element before it in its window keeps an
        /// element from being a peak, and one after it does not. A plateau that is larger than the windows can have
        /// several.
        #[default]
        First = "first",
        /// All of them: each element that equals the maximum of its window, as `x == maximum_filter(x)` does.
        All = "all",
    }
}

option! {
    /// The computation of pads (ONNX MaxPool `auto_pad`).
    ///
    /// ```
    /// use wgpu_pooling::AutoPad;
    /// assert_eq!("SAME_UPPER".parse(), Ok(AutoPad::SameUpper));
    /// assert!("same_upper".parse::<AutoPad>().is_err());
    /// ```
    #[non_exhaustive]
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
    /// `ceil_mode` 0 is [`Floor`](CeilRule::Floor) and 1 is [`CeilDrop`](CeilRule::CeilDrop): onnxruntime and PyTorch
    /// drop the window that would start in the end padding in every opset, and ONNX's text does since opset 22
    /// (onnx#5711, onnx#5741).
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
    #[non_exhaustive]
    CeilRule, "ceil_rule" {
        /// `floor((padded - effective kernel) / stride) + 1`.
        #[default]
        Floor = "floor",
        /// Rounded up, less one if the last window would start in the end padding.
        CeilDrop = "ceil_drop",
        /// Rounded up, as in the formula of opsets 10 to 12 and in OpenVINO's `CEIL`.
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
    #[non_exhaustive]
    SamePadding, "same_padding" {
        /// From the effective (dilated) kernel; a negative total counts as zero. ONNX shape inference, OpenVINO,
        /// TensorFlow.
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
    /// // On 2 elements it is longer by 3, which is more than a stride.
    /// assert!(MaxPool::new([5]).strides([2]).plan(&[1, 1, 2], DType::F32, None).is_err());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    #[non_exhaustive]
    SizeRounding, "size_rounding" {
        /// To minus infinity: an axis has no output if the window exceeds the padded input by up to a stride; a longer
        /// one is an error.
        #[default]
        Floor = "floor",
        /// Toward zero, as C++ divides: onnxruntime gives one window, partly outside (onnxruntime#25234).
        Trunc = "trunc",
        /// To minus infinity, and an axis without outputs is an error: PyTorch, OpenVINO.
        FloorPositive = "floor_positive",
    }
}

option! {
    /// The position of the channel axis in X and Y, or in indices.
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
    /// The rule for NaN in a window.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, NanPolicy, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 1, 3], &[f32::NAN, 1.0, f32::NAN])?;
    /// for (policy, winner) in NanPolicy::ALL.iter().zip([0, 2, 1, 1]) {
    ///     let pool = MaxPool::new([3]).nan_policy(*policy);
    ///     let (_, indices) = pool.on(x).with_indices::<i64>().run_blocking(&Reference)?;
    ///     assert_eq!(indices.data(), &[winner]);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[non_exhaustive]
    NanPolicy, "nan_policy" {
        /// A NaN wins only as the first valid element of its window: onnxruntime with Indices (1.29 and newer),
        /// TensorFlow, OpenVINO adaptive.
        #[default]
        SeedFirst = "seed_first",
        /// A NaN always wins, the last one of the window: PyTorch.
        PropagateLast = "propagate_last",
        /// Ignores NaN and values not above [`EmptyValue::LowestWidened`]: OpenVINO MaxPool.
        SeedLowest = "seed_lowest",
        /// NaN is no element, and -inf may win. A window of NaN alone is an empty one, as one wholly in padding is: its
        /// value is that of [`EmptyValue`], its index that of [`EmptyIndex`]. pandas, xarray (`skipna`).
        Ignore = "ignore",
    }
}

option! {
    /// The value of an empty window: one wholly in padding or, under [`NanPolicy::Ignore`], one of NaN alone.
    ///
    /// ```
    /// use wgpu_pooling::{EmptyValue, MaxPool, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 1, 1], &[7.0f32])?;
    /// for (rule, value) in [(EmptyValue::NegInf, f32::NEG_INFINITY), (EmptyValue::LowestFinite, f32::MIN)] {
    ///     // The first of the two windows is the padding cell.
    ///     let pool = MaxPool::new([1]).pads([1, 0]).empty_value(rule);
    ///     assert_eq!(pool.on(x).run_blocking(&Reference)?.data(), &[value, 7.0]);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[non_exhaustive]
    EmptyValue, "empty_value" {
        /// Minus infinity; integers their minimum.
        #[default]
        NegInf = "neg_inf",
        /// The lowest finite value; integers their minimum.
        LowestFinite = "lowest_finite",
        /// The lowest finite value of the type of the arithmetic. For f16 and bf16 that is f32, whose lowest value
        /// becomes minus infinity when it is converted back; for other types it is
        /// [`LowestFinite`](EmptyValue::LowestFinite). onnxruntime, OpenVINO.
        LowestWidened = "lowest_widened",
        /// The positive quiet NaN without a payload, of minima too. Integers have none: an error of `plan`
        /// ([`PlanError::EmptyValueType`](crate::PlanError::EmptyValueType)).
        Nan = "nan",
    }
}

impl EmptyValue {
    /// The bits of this value in an element type.
    pub(crate) fn bits(self, dtype: DType) -> u64 {
        match self {
            EmptyValue::NegInf => dtype.negative_infinity_bits(),
            EmptyValue::LowestFinite => dtype.lowest_finite_bits(),
            EmptyValue::LowestWidened => dtype.seed_bits(),
            EmptyValue::Nan => dtype.nan_bits(),
        }
    }
}

option! {
    /// The index of an empty window: one wholly in padding or, under [`NanPolicy::Ignore`], one of NaN alone.
    ///
    /// ```
    /// use wgpu_pooling::{EmptyIndex, MaxPool, Reference, TensorView};
    ///
    /// // The second plane begins at 3; its first window is the padding cell, and its taps would be 2 apart.
    /// let x = TensorView::new(&[1, 2, 3], &[0u8; 6])?;
    /// for (rule, index) in EmptyIndex::ALL.iter().zip([-1, 2, 4, 3]) {
    ///     let pool = MaxPool::new([1]).dilations([2]).pads([1, 0]).empty_index(*rule);
    ///     let (_, indices) = pool.on(x).with_indices::<i64>().run_blocking(&Reference)?;
    ///     assert_eq!(indices.data()[4], index, "{rule:?}");
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[non_exhaustive]
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
    /// The range that a flat index counts through.
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
    #[non_exhaustive]
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

impl IndexFlattening {
    /// Whether an index counts through batch items, so that it names one.
    #[doc(hidden)]
    pub fn counts_batch(self) -> bool {
        self == IndexFlattening::Tensor
    }

    /// Whether an index counts through channels, so that it names one.
    #[doc(hidden)]
    pub fn counts_channels(self) -> bool {
        self != IndexFlattening::Plane
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
    /// The shape in which the indices of a MaxUnpool with `output_shape` are flat.
    ///
    /// The two differ only when `output_shape` is not the inferred shape (onnx#2398, onnx#8413). An unpool made from a
    /// pool needs neither: see [`MaxUnpool::inverse_of`](crate::MaxUnpool::inverse_of).
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, Reference, TensorView, UnpoolSpace};
    ///
    /// // The attributes infer two rows of two, `output_shape` is two rows of three. Which element is number 2?
    /// let (x, indices) = (TensorView::new(&[1, 1, 1, 1], &[9u8])?, TensorView::new(&[1, 1, 1, 1], &[2i64])?);
    /// for (space, position) in [(UnpoolSpace::InferredTopLeft, 3), (UnpoolSpace::OutputShape, 2)] {
    ///     let unpool = MaxUnpool::new([2, 2]).output_shape([1, 1, 2, 3]).unpool_space(space);
    ///     assert_eq!(unpool.on(x, indices).run_blocking(&Reference)?.data()[position], 9);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[non_exhaustive]
    UnpoolSpace, "unpool_space" {
        /// Flat in the inferred shape, which is placed at Y's origin: the published operator page's example.
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
    #[non_exhaustive]
    UnpoolMinSize, "unpool_min_size" {
        /// No axis below the inferred extent.
        #[default]
        PerAxis = "per_axis",
        /// Not fewer elements: onnxruntime.
        ElementCount = "element_count",
        /// Any size; indices are still checked.
        None = "none",
    }
}

option! {
    /// Which element wins when several indices of a MaxUnpool are equal.
    ///
    /// ```
    /// use wgpu_pooling::{Duplicates, MaxUnpool, Reference, TensorView};
    ///
    /// let unpool = MaxUnpool::new([2]).strides([2]).duplicates(Duplicates::LastWins);
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[5u8, 6])?, TensorView::new(&[1, 1, 2], &[1i64, 1])?);
    /// assert_eq!(unpool.on(x, indices).run_blocking(&Reference)?.data(), &[0, 6, 0, 0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[non_exhaustive]
    Duplicates, "duplicates" {
        /// The one that comes last in (n, c, spatial) order, also for NHWC data: onnx.reference, onnxruntime.
        #[default]
        LastWins = "last_wins",
        /// Any of them, for callers who know that no indices are equal, or that equal indices have equal values. An
        /// unpool of elements of four bytes that also skips bad indices ([`OutOfBounds::Skip`]) is then two dispatches
        /// without scratch memory, and which of several sources wins may differ from run to run; other paths compute as
        /// with `LastWins`. For large tensors with a pool's own indices, [`OutsideWindow`] or `Family::Gather` moves
        /// fewer bytes.
        Any = "any",
    }
}

option! {
    /// The rule for negative or too large indices of MaxUnpool. Nothing outside the output is written either way.
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, OutOfBounds, Reference, TensorView};
    ///
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[5u8, 6])?, TensorView::new(&[1, 1, 2], &[1i64, 99])?);
    /// let y = |rule| MaxUnpool::new([2]).out_of_bounds(rule).on(x, indices).run_blocking(&Reference);
    /// assert_eq!(y(OutOfBounds::Skip)?.data(), &[0, 5, 0]);
    /// assert!(y(OutOfBounds::Error).is_err());
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    #[non_exhaustive]
    OutOfBounds, "out_of_bounds" {
        /// The call is an error that names the first offender's position and value.
        #[default]
        Error = "error",
        /// Such indices are skipped.
        Skip = "skip",
    }
}

option! {
    /// The rule for indices of a MaxUnpool outside their own windows. An index's own window is the one that the pool
    /// with the same attributes has at the index's position; the indices of such a pool lie in their own windows. A
    /// caller with such indices can choose `Error` or `Skip`. An unpool is then one dispatch without scratch memory, or
    /// two for small outputs and for windows that are dilated, adaptive or leave gaps. The rule then holds for indices
    /// outside the index space too, whatever [`OutOfBounds`] says. Only what an inverse
    /// skips, because a pool says so where nothing won, is no such index
    /// ([`inverse_of`](crate::MaxUnpool::inverse_of)).
    ///
    /// ```
    /// use wgpu_pooling::{ExecuteError, MaxUnpool, OutsideWindow, Reference, TensorView};
    ///
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[5u8, 6])?, TensorView::new(&[1, 1, 2], &[1i64, 0])?);
    /// let unpool = MaxUnpool::new([2]).strides([2]);
    /// let y = |rule| unpool.clone().outside_window(rule).on(x, indices).run_blocking(&Reference);
    /// assert_eq!(y(OutsideWindow::Scatter)?.data(), &[6, 5, 0, 0]);
    /// assert_eq!(y(OutsideWindow::Skip)?.data(), &[0, 5, 0, 0]);
    /// assert_eq!(y(OutsideWindow::Error), Err(ExecuteError::IndexOutsideWindow { position: 1, count: 1 }));
    /// # Ok::<(), ExecuteError>(())
    /// ```
    #[non_exhaustive]
    OutsideWindow, "outside_window" {
        /// It is as good as any other index: ONNX and all runtimes.
        #[default]
        Scatter = "scatter",
        /// The call is an error that names the first offender's position.
        Error = "error",
        /// Such indices are skipped.
        Skip = "skip",
    }
}

option! {
    /// How large pads may be. Other runtimes refuse pads that this crate accepts; their presets refuse them too.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, PadsLimit, PlanError};
    ///
    /// let plan = |limit| MaxPool::new([3]).pads([2, 2]).pads_limit(limit).plan(&[1, 1, 5], DType::F32, None);
    /// assert!(plan(PadsLimit::None).is_ok() && plan(PadsLimit::Ort).is_ok());
    /// assert_eq!(plan(PadsLimit::Torch), Err(PlanError::PadExceedsLimit { position: 0, value: 2, limit: 1 }));
    /// ```
    #[non_exhaustive]
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

option! {
    /// The runtime whose conventions a [`Node`](crate::Node) follows where the specification and runtimes differ.
    ///
    /// Each value sets the options that the constructors of its name set, such as
    /// [`MaxPool::onnxruntime`](crate::MaxPool::onnxruntime); their pages say what is not reproduced. The attributes
    /// are the node's; absent ones take ONNX's defaults.
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, Node, Preset, TensorRef, TensorView};
    ///
    /// // The fourth window would lie in the padding, and opset 12 keeps it by its text.
    /// let node = Node::new("MaxPool", 12)
    ///     .attribute("kernel_shape", Attribute::Ints(vec![2]))
    ///     .attribute("strides", Attribute::Ints(vec![3]))
    ///     .attribute("ceil_mode", Attribute::Int(1));
    /// let x: TensorRef = TensorView::new(&[1, 1, 9], &[0.0f32; 9])?.into();
    /// let outputs = [(Preset::Onnx, 4), (Preset::OpenVino, 4), (Preset::OnnxRuntime, 3), (Preset::PyTorch, 3)];
    /// for (preset, outputs) in outputs {
    ///     assert_eq!(node.clone().preset(preset).plan(&[x.clone()], 1)?.outputs()[0].shape, [1, 1, outputs]);
    /// }
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    #[non_exhaustive]
    Preset, "preset" {
        /// The published operators, by the text of the node's opset.
        #[default]
        Onnx = "onnx",
        /// The same, with the MaxUnpool of releases after 1.23 (onnx#8413).
        OnnxAfter1_23 = "onnx_after_1_23",
        /// onnxruntime's CPU kernels. As there, an empty list, an empty `auto_pad` and a `ceil_mode` other than 1 are
        /// the defaults, and a MaxPool node's `pads` are ignored where its `auto_pad` computes them.
        OnnxRuntime = "onnxruntime",
        /// OpenVINO's CPU plugin and its importer of ONNX models. It has no MaxUnpool.
        OpenVino = "openvino",
        /// PyTorch: the rules for NaN, indices and pads of its calls.
        PyTorch = "pytorch",
    }
}
