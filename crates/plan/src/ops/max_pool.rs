//! ONNX MaxPool (opset 1 to 22) and GlobalMaxPool.

use super::node::{axes, read_attributes};
use super::pool_options::{PoolOptions, pool_options};
use crate::attributes::{Activation, Attribute, Ints, ceil_mode, storage_order};
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::geometry::{AxisAttributes, SizeRules, max_pool_axis};
use crate::options::{
    AutoPad, CeilRule, EmptyIndex, EmptyValue, IndexFlattening, Layout, NanPolicy, PadsLimit, SamePadding,
    SizeRounding, StorageOrder,
};
use crate::plan::{Dimensions, IndexPlan, Origin, Plan, PoolAxis, PoolPlan};
use crate::pooling::{Pooling, sealed::Sealed};
use crate::reduction::Reduction;
use crate::request::{AsTensor, Request, ValuesOnly};
use crate::tensor::Tensor;

const OPERATOR: &str = "MaxPool";

/// Max pooling over sliding windows, with the position of each maximum on request (ONNX MaxPool, opset 1 to 22).
///
/// Attributes are ONNX's, as `i64`; lists have one value for each spatial axis (`pads`: all begins, then all ends) and
/// a wrong length is an error of [`plan`](MaxPool::plan). Where ONNX leaves the semantics open there is an option,
/// whose default follows the operator's text and printed examples.
///
/// ```
/// use wgpu_pooling::{MaxPool, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 2, 4], &[1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let (y, indices) = pool.on(x).with_indices::<i64>().run_blocking(&Reference)?;
/// assert_eq!((y.data(), indices.data()), (&[5.0, 7.0][..], &[1, 6][..]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct MaxPool {
    kernel_shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    dilations: Option<Vec<i64>>,
    pads: Option<Vec<i64>>,
    auto_pad: AutoPad,
    ceil_mode: i64,
    storage_order: i64,
    ceil_rule: Option<CeilRule>,
    same_padding: SamePadding,
    size_rounding: SizeRounding,
    pads_limit: PadsLimit,
    activation: Activation,
    options: PoolOptions,
}

impl MaxPool {
    /// A pool with this `kernel_shape`, one extent for each spatial axis: strides and dilations 1, no pads.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    /// let plan = MaxPool::new([2, 3]).plan(&[1, 1, 5, 5], DType::F32, None)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 4, 3]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn new(kernel_shape: impl Ints) -> Self {
        MaxPool {
            kernel_shape: kernel_shape.as_ref().to_vec(),
            strides: None,
            dilations: None,
            pads: None,
            auto_pad: AutoPad::default(),
            ceil_mode: 0,
            storage_order: 0,
            ceil_rule: None,
            same_padding: SamePadding::default(),
            size_rounding: SizeRounding::default(),
            pads_limit: PadsLimit::default(),
            activation: Activation::default(),
            options: PoolOptions::new(IndexFlattening::default()),
        }
    }

    /// A pool from the attributes of an ONNX node, by name.
    ///
    /// # Errors
    /// [`PlanError::UnknownAttribute`] for a name that MaxPool does not have; [`PlanError::RepeatedAttribute`],
    /// [`PlanError::AttributeKind`], [`PlanError::UnknownValue`] and [`PlanError::MissingAttribute`] as their names
    /// say. Lengths are checked by `plan`.
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, MaxPool};
    ///
    /// let attributes = [("kernel_shape", Attribute::Ints(vec![3])), ("auto_pad", Attribute::String("FULL".into()))];
    /// let error = MaxPool::from_onnx(attributes).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     r#"auto_pad: unknown value "FULL", expected NOTSET, VALID, SAME_UPPER, SAME_LOWER"#
    /// );
    /// ```
    pub fn from_onnx<S: AsRef<str>>(attributes: impl IntoIterator<Item = (S, Attribute)>) -> Result<Self, PlanError> {
        let pool = MaxPool::new([]).with_attributes(attributes)?;
        if pool.kernel_shape.is_empty() {
            return Err(PlanError::MissingAttribute { operator: OPERATOR, attribute: "kernel_shape" });
        }
        Ok(pool)
    }

    /// This pool with attributes by their ONNX names. Other options stay as they are, such as the strides that
    /// PyTorch's preset takes from its kernel; for a model's node, whose absent attributes have ONNX's defaults, see
    /// [`Node`](crate::Node).
    ///
    /// # Errors
    /// As [`MaxPool::from_onnx`]; `kernel_shape` is not required.
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, MaxPool};
    ///
    /// let node = [("kernel_shape", Attribute::Ints(vec![3, 3])), ("ceil_mode", Attribute::Int(1))];
    /// let pool = MaxPool::onnxruntime([2, 2]).with_attributes(node)?;
    /// assert_eq!(pool, MaxPool::onnxruntime([3, 3]).ceil_mode(1));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn with_attributes<S: AsRef<str>>(
        mut self,
        attributes: impl IntoIterator<Item = (S, Attribute)>,
    ) -> Result<Self, PlanError> {
        let activation = read_attributes(OPERATOR, attributes, |name, value| {
            match name {
                "kernel_shape" => self.kernel_shape = value.ints(name)?.to_vec(),
                "strides" => self.strides = Some(value.ints(name)?.to_vec()),
                "dilations" => self.dilations = Some(value.ints(name)?.to_vec()),
                "pads" => self.pads = Some(value.ints(name)?.to_vec()),
                "auto_pad" => self.auto_pad = value.string(name)?.parse()?,
                "ceil_mode" => {
                    self.ceil_mode = value.int(name)?;
                    ceil_mode(self.ceil_mode)?;
                }
                "storage_order" => {
                    self.storage_order = value.int(name)?;
                    storage_order(self.storage_order)?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        self.activation = activation.unwrap_or(self.activation);
        Ok(self)
    }

    /// `strides`: elements from one window's start to the next, at least 1. Default 1.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    /// let plan = MaxPool::new([2]).strides([3]).plan(&[1, 1, 8], DType::F32, None)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 3]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn strides(mut self, strides: impl Ints) -> Self {
        self.strides = Some(strides.as_ref().to_vec());
        self
    }

    /// `dilations` (since opset 10): elements from one tap to the next, at least 1, so that a window spans
    /// `(kernel - 1) * dilation + 1`. Default 1.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    /// // Taps 0 and 3, then 1 and 4.
    /// let plan = MaxPool::new([2]).dilations([3]).plan(&[1, 1, 5], DType::F32, None)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 2]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn dilations(mut self, dilations: impl Ints) -> Self {
        self.dilations = Some(dilations.as_ref().to_vec());
        self
    }

    /// `pads`: all begins, then all ends. Default 0. They may exceed the kernel; negative ones are an error of `plan`.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    /// // One row above, two below, no columns.
    /// let plan = MaxPool::new([1, 1]).pads([1, 0, 2, 0]).plan(&[1, 1, 4, 4], DType::F32, None)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 7, 4]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    #[doc(alias = "padding")]
    pub fn pads(mut self, pads: impl Ints) -> Self {
        self.pads = Some(pads.as_ref().to_vec());
        self
    }

    /// `auto_pad`. `VALID` means pads of zero, with the rounding of `ceil_mode`, as in runtimes (ONNX's formula for
    /// `VALID` always gives the floor). Non-zero pads beside a value other than `NOTSET` are an error of `plan`
    /// ([`PlanError::PadsWithAutoPad`]); onnxruntime and OpenVINO ignore them.
    ///
    /// ```
    /// use wgpu_pooling::{AutoPad, DType, MaxPool};
    ///
    /// let pool = MaxPool::new([3]).strides([2]).auto_pad(AutoPad::SameUpper);
    /// assert_eq!(pool.plan(&[1, 1, 5], DType::F32, None)?.output_shape(), &[1, 1, 3]);
    /// assert!(pool.pads([1, 1]).plan(&[1, 1, 5], DType::F32, None).is_err());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn auto_pad(mut self, auto_pad: AutoPad) -> Self {
        self.auto_pad = auto_pad;
        self
    }

    /// `ceil_mode` (since opset 10): 0 floor, 1 ceil with drop ([`CeilRule`]; onnx#5711). Default 0. Other numbers are
    /// an error of `plan`.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    ///
    /// let plan = |ceil_mode| MaxPool::new([2]).strides([2]).ceil_mode(ceil_mode).plan(&[1, 1, 5], DType::F32, None);
    /// assert_eq!(plan(0)?.output_shape(), &[1, 1, 2]);
    /// assert_eq!(plan(1)?.output_shape(), &[1, 1, 3]);
    /// assert!(plan(2).is_err());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn ceil_mode(mut self, ceil_mode: i64) -> Self {
        self.ceil_mode = ceil_mode;
        self
    }

    /// `storage_order` (since opset 8) of the indices: 0 row major, 1 column major. Default 0. Other numbers are an
    /// error of `plan`.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, TensorView};
    ///
    /// // Column major: two elements of the first column precede the 9.
    /// let x = TensorView::new(&[1, 1, 2, 3], &[0u8, 9, 0, 0, 0, 0])?;
    /// let pool = MaxPool::new([2, 3]).storage_order(1);
    /// assert_eq!(pool.on(x).with_indices::<i64>().run_blocking(&Reference)?.1.data(), &[2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn storage_order(mut self, storage_order: i64) -> Self {
        self.storage_order = storage_order;
        self
    }

    /// The rounding rule; overrides `ceil_mode`.
    ///
    /// ```
    /// use wgpu_pooling::{CeilRule, DType, MaxPool};
    ///
    /// let pool = MaxPool::new([2]).strides([3]).ceil_mode(1);
    /// assert_eq!(pool.plan(&[1, 1, 9], DType::F32, None)?.output_shape(), &[1, 1, 3]);
    /// let pool = pool.ceil_rule(CeilRule::CeilLiteral);
    /// assert_eq!(pool.plan(&[1, 1, 9], DType::F32, None)?.output_shape(), &[1, 1, 4]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn ceil_rule(mut self, rule: CeilRule) -> Self {
        self.ceil_rule = Some(rule);
        self
    }

    /// How `SAME_*` sizes its padding. Default [`SamePadding::SpecClamped`], from the effective kernel
    /// (onnxruntime#10083).
    ///
    /// ```
    /// use wgpu_pooling::{AutoPad, MaxPool, Reference, SamePadding, TensorView};
    ///
    /// // Two windows of one element, five apart, reach over six of nine elements: the padding would be -3.
    /// let x = TensorView::new(&[1, 1, 9], &[0u8, 1, 2, 3, 4, 5, 6, 7, 8])?;
    /// for (rule, y) in [(SamePadding::SpecClamped, [0, 5]), (SamePadding::OrtUndilated, [1, 6])] {
    ///     let pool = MaxPool::new([1]).strides([5]).auto_pad(AutoPad::SameUpper).same_padding(rule);
    ///     assert_eq!(pool.on(x).run_blocking(&Reference)?.data(), &y);
    /// }
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn same_padding(mut self, rule: SamePadding) -> Self {
        self.same_padding = rule;
        self
    }

    /// The rounding of the output extent where a window exceeds the padded input. Default: towards minus infinity, so
    /// that there is no output; onnxruntime computes one output (onnxruntime#25234).
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, SizeRounding};
    ///
    /// let pool = MaxPool::new([5]).strides([2]);
    /// assert_eq!(pool.plan(&[1, 1, 4], DType::F32, None)?.output_shape(), &[1, 1, 0]);
    /// let pool = pool.size_rounding(SizeRounding::Trunc);
    /// assert_eq!(pool.plan(&[1, 1, 4], DType::F32, None)?.output_shape(), &[1, 1, 1]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn size_rounding(mut self, rule: SizeRounding) -> Self {
        self.size_rounding = rule;
        self
    }

    /// Refuses pads that a peer refuses, with [`PlanError::PadExceedsLimit`]. Default: none are refused.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, PadsLimit, PlanError};
    ///
    /// let pool = MaxPool::new([2]).pads([0, 2]).pads_limit(PadsLimit::Ort);
    /// let error = pool.plan(&[1, 1, 4], DType::F32, None).unwrap_err();
    /// assert_eq!(error, PlanError::PadExceedsLimit { position: 1, value: 2, limit: 1 });
    /// ```
    pub fn pads_limit(mut self, limit: PadsLimit) -> Self {
        self.pads_limit = limit;
        self
    }

    /// A function applied to Y after the maximum. Activations that integers do not have are an error of `plan` for
    /// integers.
    ///
    /// ```
    /// use wgpu_pooling::{Activation, MaxPool, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 1, 4], &[-3i8, -5, 2, 9])?;
    /// let pool = MaxPool::new([2]).activation(Activation::Relu);
    /// assert_eq!(pool.on(x).run_blocking(&Reference)?.data(), &[0, 2, 9]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// The plan for an X of this shape and type, with or without indices.
    ///
    /// `shape` is X's, in its layout: N, C, spatial extents for NCHW. N and C may be zero, spatial extents may not. A
    /// window that exceeds the padded input by at most a stride gives an empty output; a larger window is an error.
    ///
    /// # Errors
    /// A [`PlanError`] with the numbers: wrong lengths, values below 1, kernels that exceed the padded input, more
    /// elements than the index type can address, and others.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    ///
    /// // onnx#5711: the window that would start in the end padding is dropped, so there are 3 outputs, not 4.
    /// let plan = MaxPool::new([2]).strides([3]).ceil_mode(1).plan(&[1, 1, 9], DType::F32, None)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 3]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
        Pooling::plan(self, shape, dtype, indices)
    }

    /// This pool of `x`, to be run on a backend.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, Reference, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// let y = MaxPool::new([2]).on(&x).run_blocking(&Reference)?;
    /// assert_eq!(y.data(), &[3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn on<'a, X: AsTensor<'a>>(&self, x: X) -> Request<'a, Tensor<X::Element>, ValuesOnly> {
        Request::pool(self, x)
    }

    /// The plan of a pool with these windows, and the rules for its indices.
    pub(super) fn on_axes(
        &self,
        operator: &'static str,
        (dimensions, axes): (Dimensions, Vec<PoolAxis>),
        order: StorageOrder,
        dtype: DType,
    ) -> Result<(PoolPlan, IndexPlan), PlanError> {
        let space = self.options.space(order, &dimensions);
        // A combination that no convention has is refused even when no indices are requested.
        space.check()?;
        let PoolOptions { empty_value, empty_index: empty, .. } = self.options;
        if empty_value == EmptyValue::Nan && !dtype.is_float() {
            return Err(PlanError::EmptyValueType { empty_value, dtype });
        }
        let plan = PoolPlan {
            operator,
            inputs: Vec::new(),
            outputs: Vec::new(),
            batch: dimensions.batch,
            channels: dimensions.channels,
            axes,
            reduction: Reduction::Max,
            // No integer is ignored.
            nan_policy: match self.options.nan_policy {
                NanPolicy::Ignore if !dtype.is_float() => NanPolicy::default(),
                policy => policy,
            },
            empty_bits: empty_value.bits(dtype),
            indices: None,
            activation: self.activation,
            origin: Origin::default(),
        };
        let rules = IndexPlan { index_type: IndexType::I64, space, empty };
        Ok((plan.complete(dtype, self.options.layout)?, rules))
    }

    /// A pool with the options that all pools have, and the defaults of the others.
    pub(super) fn with_options(kernel_shape: impl Ints, options: &PoolOptions) -> Self {
        MaxPool { options: options.clone(), ..MaxPool::new(kernel_shape) }
    }

    fn check_pads(&self, axes: &[AxisAttributes]) -> Result<(), PlanError> {
        for &AxisAttributes { axis, kernel, pads, .. } in axes {
            for (end, value) in pads.into_iter().enumerate() {
                let position = end.saturating_mul(axes.len()).saturating_add(axis);
                if self.auto_pad != AutoPad::NotSet && value != 0 {
                    return Err(PlanError::PadsWithAutoPad { auto_pad: self.auto_pad.name(), position, value });
                }
                let limit = match self.pads_limit {
                    PadsLimit::None => i64::MAX,
                    PadsLimit::Ort => kernel.saturating_sub(1).max(0),
                    PadsLimit::Torch => (kernel / 2).max(0),
                };
                if value > limit {
                    return Err(PlanError::PadExceedsLimit { position, value, limit });
                }
            }
        }
        Ok(())
    }
}

pool_options! {
    MaxPool,
    line: "MaxPool::new([2])",
    grid: "MaxPool::new([2, 3])",
    flatten: "Default: the whole tensor.",
    index_order: "Overrides `storage_order`."
}

impl Pooling for MaxPool {}
impl Sealed for MaxPool {
    fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError> {
        let dimensions = Dimensions::of(shape, self.options.layout)?;
        let lists = [&self.strides, &self.dilations, &self.pads].map(Option::as_deref);
        let attributes = axes(&dimensions.spatial, &self.kernel_shape, lists)?;
        self.check_pads(&attributes)?;
        // A number that the attribute does not have is refused even where an option overrides it.
        let (order, ceil) = (storage_order(self.storage_order)?, ceil_mode(self.ceil_mode)?);
        let ceil = self.ceil_rule.unwrap_or(ceil);
        let rules = SizeRules { auto_pad: self.auto_pad, ceil, same: self.same_padding, rounding: self.size_rounding };
        let axis = |attributes: &AxisAttributes| {
            let (output, window) = max_pool_axis(attributes, rules)?;
            Ok(PoolAxis { input: attributes.input, output, window })
        };
        let axes = attributes.iter().map(axis).collect::<Result<_, _>>()?;
        self.on_axes("max_pool", (dimensions, axes), order, dtype)
    }
}

/// The maximum of each plane (ONNX GlobalMaxPool): a MaxPool whose kernel is the spatial shape.
///
/// ```
/// use wgpu_pooling::{DType, GlobalMaxPool};
///
/// let plan = GlobalMaxPool::new().plan(&[2, 3, 5, 7], DType::F32, None)?;
/// assert_eq!(plan.output_shape(), &[2, 3, 1, 1]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct GlobalMaxPool {
    options: PoolOptions,
}

impl Default for GlobalMaxPool {
    fn default() -> Self {
        GlobalMaxPool::new()
    }
}

impl GlobalMaxPool {
    /// A global pool with ONNX's defaults.
    ///
    /// ```
    /// use wgpu_pooling::{GlobalMaxPool, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 2, 3], &[1u8, 9, 2, 4, 3, 8])?;
    /// assert_eq!(GlobalMaxPool::new().on(x).run_blocking(&Reference)?.data(), &[9, 8]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn new() -> Self {
        GlobalMaxPool { options: PoolOptions::new(IndexFlattening::default()) }
    }

    /// The plan for an X of this shape and type, with or without indices.
    ///
    /// # Errors
    /// As [`MaxPool::plan`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, GlobalMaxPool, PlanError};
    ///
    /// let error = GlobalMaxPool::new().plan(&[1, 3, 0], DType::F32, None).unwrap_err();
    /// assert_eq!(error, PlanError::ZeroExtent { axis: 0, shape: vec![1, 3, 0] });
    /// ```
    pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
        Pooling::plan(self, shape, dtype, indices)
    }

    /// This pool of `x`, to be run on a backend.
    ///
    /// ```
    /// use wgpu_pooling::{GlobalMaxPool, Reference, Tensor};
    /// let x = Tensor::new([1, 2, 2], vec![3u8, 1, 2, 9])?;
    /// assert_eq!(GlobalMaxPool::new().on(&x).run_blocking(&Reference)?.data(), &[3, 9]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn on<'a, X: AsTensor<'a>>(&self, x: X) -> Request<'a, Tensor<X::Element>, ValuesOnly> {
        Request::pool(self, x)
    }
}

pool_options! {
    GlobalMaxPool,
    line: "GlobalMaxPool::new()",
    grid: "GlobalMaxPool::new()",
    flatten: "Default: the whole tensor.",
    index_order: "Default row major."
}

impl Pooling for GlobalMaxPool {}
impl Sealed for GlobalMaxPool {
    fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError> {
        let spatial = Dimensions::of(shape, self.options.layout)?.spatial;
        let kernel_shape = spatial
            .iter()
            .map(|&extent| i64::try_from(extent).map_err(|_| PlanError::ShapeOverflow { shape: shape.to_vec() }))
            .collect::<Result<Vec<_>, _>>()?;
        let (plan, rules) = MaxPool::with_options(kernel_shape, &self.options).plan_and_rules(shape, dtype)?;
        Ok((PoolPlan { operator: "global_max_pool", ..plan }, rules))
    }
}
