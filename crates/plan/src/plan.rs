//! Plans: what must be computed, as a value. No device, no data.

mod dimensions;
mod index_target;
mod taps;

use crate::attributes::Activation;
use crate::element::{DType, Element, IndexType};
use crate::error::PlanError;
use crate::geometry::AxisWindow;
use crate::index::{IndexSpace, IndexStrides};
use crate::options::{Duplicates, EmptyIndex, EmptyValue, Layout, NanPolicy, OutOfBounds, OutsideWindow};
use crate::reduction::Reduction;
use crate::tensor::{TensorSpec, element_count};

pub use dimensions::MAX_SPATIAL_AXES;
pub(crate) use dimensions::{Dimensions, assemble, check_index_type};
use dimensions::{bytes_of, spec};

/// A computation: a pool or an unpool.
///
/// ```
/// use wgpu_pooling::{DType, MaxPool, Plan};
/// let plan: Plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?.into();
/// assert!(matches!(plan, Plan::Pool(_)));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Plan {
    /// MaxPool, GlobalMaxPool or AdaptiveMaxPool.
    Pool(PoolPlan),
    /// MaxUnpool.
    Unpool(UnpoolPlan),
}

impl Plan {
    /// The operator's name: `max_pool`, `global_max_pool`, `adaptive_max_pool` or `max_unpool`.
    pub fn operator(&self) -> &'static str {
        match self {
            Plan::Pool(plan) => plan.operator(),
            Plan::Unpool(plan) => plan.operator(),
        }
    }

    /// Refuses another number of tensors than the plan has; `what` are `inputs` or `outputs`.
    #[doc(hidden)]
    pub fn check_count(&self, what: &'static str, own: &[TensorSpec], actual: usize) -> Result<(), PlanError> {
        if own.len() == actual {
            return Ok(());
        }
        // A plan has at most two of each.
        let expected = if own.len() == 1 { "1" } else { "2" };
        Err(PlanError::OperandCount { operator: self.operator(), what, expected, actual })
    }

    /// What errors call the inputs and the outputs.
    #[doc(hidden)]
    pub const OPERAND_NAMES: [[&'static str; 2]; 2] = [["x", "indices"], ["y", "indices"]];

    /// What errors call a plan.
    #[doc(hidden)]
    pub fn kind(&self) -> &'static str {
        match self {
            Plan::Pool(_) => "pool",
            Plan::Unpool(_) => "unpool",
        }
    }

    /// The tensors that are read: X of a pool, X and Indices of an unpool.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, Plan};
    /// let plan: Plan = MaxUnpool::new([2]).plan(&[1, 3, 4], DType::F32, IndexType::I64)?.into();
    /// assert_eq!(plan.inputs().len(), 2);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn inputs(&self) -> &[TensorSpec] {
        match self {
            Plan::Pool(plan) => plan.inputs(),
            Plan::Unpool(plan) => plan.inputs(),
        }
    }

    /// The tensors that are written: Y of a pool and, if requested, its Indices; Y of an unpool.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxPool, Plan};
    /// let plan: Plan = MaxPool::new([2]).plan(&[1, 3, 4], DType::F32, Some(IndexType::I64))?.into();
    /// assert_eq!(plan.outputs().iter().map(|tensor| tensor.bytes()).collect::<Vec<_>>(), [9 * 4, 9 * 8]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn outputs(&self) -> &[TensorSpec] {
        match self {
            Plan::Pool(plan) => plan.outputs(),
            Plan::Unpool(plan) => plan.outputs(),
        }
    }

    /// The fewest bytes that computing the plan must move: each input once, each output once.
    #[doc(hidden)]
    pub fn bytes(&self) -> u64 {
        bytes_of(self.inputs(), self.outputs())
    }
}

impl From<PoolPlan> for Plan {
    fn from(plan: PoolPlan) -> Self {
        Plan::Pool(plan)
    }
}

impl From<UnpoolPlan> for Plan {
    fn from(plan: UnpoolPlan) -> Self {
        Plan::Unpool(plan)
    }
}

/// One spatial axis of a pool.
///
/// ```
/// use wgpu_pooling::{AxisWindow, DType, MaxPool, PoolAxis};
///
/// let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 8], DType::F32, None)?;
/// let window = AxisWindow::Strided { kernel: 2, stride: 2, dilation: 1, pad_begin: 0 };
/// assert_eq!(plan.axes(), &[PoolAxis { input: 8, output: 4, window }]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolAxis {
    /// Extent of X.
    pub input: usize,
    /// Extent of Y.
    pub output: usize,
    /// The windows.
    pub window: AxisWindow,
}

impl PoolAxis {
    /// The taps of window `o` that lie inside the input. `o` is below `output`.
    #[doc(hidden)]
    #[inline]
    pub fn taps(&self, o: usize) -> crate::geometry::Taps {
        self.window.taps(o, self.input, self.output)
    }
}

/// The indices of a pool: their type, convention and value for empty windows.
///
/// ```
/// use wgpu_pooling::{DType, EmptyIndex, IndexPlan, IndexSpace, IndexType, MaxPool};
///
/// let plan = MaxPool::new([2]).plan(&[1, 3, 8], DType::F32, Some(IndexType::I32))?;
/// let (index_type, space, empty) = (IndexType::I32, IndexSpace::new(1, 3, [8]), EmptyIndex::MinusOne);
/// assert_eq!(plan.indices(), Some(&IndexPlan { index_type, space, empty }));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IndexPlan {
    /// The integer type.
    pub index_type: IndexType,
    /// The convention. Its layout is the layout of the index tensor too.
    pub space: IndexSpace,
    /// The index of a window wholly in padding.
    pub empty: EmptyIndex,
}

/// The index of a window without a winner, before the terms of N and C are added.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EmptyBase {
    /// The same number everywhere.
    Constant(i64),
    /// This number, added to the index of the plane's first element.
    Plane(i64),
    /// The index of the window's first tap that is not negative.
    ClampedStart,
}

impl IndexPlan {
    #[doc(hidden)]
    pub fn empty_base(&self) -> EmptyBase {
        match self.empty {
            EmptyIndex::MinusOne => EmptyBase::Constant(-1),
            EmptyIndex::UnitBase => EmptyBase::Plane(0),
            // The position before the first along every spatial axis.
            EmptyIndex::OrtUnderflow => {
                let strides = self.space.strides();
                EmptyBase::Plane(strides.spatial.iter().fold(0, |offset: i64, &stride| offset.saturating_sub(stride)))
            }
            EmptyIndex::ClampedStart => EmptyBase::ClampedStart,
        }
    }
}

/// A pool, ready to be computed: MaxPool, GlobalMaxPool and AdaptiveMaxPool differ only in their windows.
///
/// ```
/// use wgpu_pooling::{DType, MaxPool};
///
/// let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(&[1, 3, 8, 6], DType::F32, None)?;
/// assert_eq!(plan.output_shape(), &[1, 3, 4, 3]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct PoolPlan {
    pub(crate) operator: &'static str,
    /// X.
    #[doc(hidden)]
    pub inputs: Vec<TensorSpec>,
    /// Y and, if requested, Indices.
    #[doc(hidden)]
    pub outputs: Vec<TensorSpec>,
    #[doc(hidden)]
    pub batch: usize,
    #[doc(hidden)]
    pub channels: usize,
    #[doc(hidden)]
    pub axes: Vec<PoolAxis>,
    #[doc(hidden)]
    pub reduction: Reduction,
    #[doc(hidden)]
    pub nan_policy: NanPolicy,
    #[doc(hidden)]
    pub empty_value: EmptyValue,
    #[doc(hidden)]
    pub indices: Option<IndexPlan>,
    #[doc(hidden)]
    pub activation: Activation,
    /// The origin of X in the tensor that the index space counts.
    #[doc(hidden)]
    pub origin: Origin,
    /// Whether X is a part of a window that does not hold the window's first element. Under `SeedFirst` no NaN wins in
    /// such a part, and Y is a NaN if all its elements are NaN.
    #[doc(hidden)]
    pub later_part: bool,
}

/// The origin of a part of a tensor. Only plans of tiles have an origin other than zero.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Origin {
    pub batch: usize,
    pub channel: usize,
    /// One coordinate per spatial axis; an empty list means zeros.
    pub spatial: Vec<usize>,
}

impl Origin {
    /// The flat index, in the whole tensor, of coordinates in the part.
    pub fn flat(&self, strides: &IndexStrides, n: usize, c: usize, at: &[i64]) -> i64 {
        let mut whole = at.to_vec();
        for (coordinate, &origin) in whole.iter_mut().zip(&self.spatial) {
            *coordinate = coordinate.saturating_add(origin as i64);
        }
        self.plane(strides, n, c, &whole)
    }

    /// The flat index, in the whole tensor, of coordinates that count from the begin of the plane.
    pub fn plane(&self, strides: &IndexStrides, n: usize, c: usize, at: &[i64]) -> i64 {
        strides.flat(self.batch.saturating_add(n), self.channel.saturating_add(c), at)
    }
}

impl PoolPlan {
    /// The operator's name: `max_pool`, `global_max_pool` or `adaptive_max_pool`.
    pub fn operator(&self) -> &'static str {
        self.operator
    }

    /// The tensors that are read: X.
    ///
    /// ```
    /// use wgpu_pooling::{DType, Layout, MaxPool, TensorSpec};
    /// let plan = MaxPool::new([2]).layout(Layout::Nhwc).plan(&[1, 4, 3], DType::U8, None)?;
    /// assert_eq!(plan.inputs(), [TensorSpec { shape: vec![1, 4, 3], dtype: DType::U8, layout: Layout::Nhwc }]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.inputs
    }

    /// The tensors that are written: Y, then Indices if requested. The layout of Indices is that of their convention:
    /// NCHW, also for NHWC data, unless another is chosen.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, Layout, MaxPool};
    ///
    /// let pool = MaxPool::new([2]).layout(Layout::Nhwc);
    /// let plan = pool.plan(&[1, 4, 5], DType::F32, Some(IndexType::I64))?;
    /// let [y, indices] = plan.outputs() else { unreachable!("Y and Indices") };
    /// assert_eq!((&y.shape[..], y.dtype), (&[1, 3, 5][..], DType::F32));
    /// assert_eq!((&indices.shape[..], indices.dtype, indices.layout), (&[1, 5, 3][..], DType::I64, Layout::Nchw));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }

    /// The shape of X, in its layout.
    pub fn input_shape(&self) -> &[usize] {
        &self.inputs[0].shape
    }

    /// The shape of Y, in its layout.
    pub fn output_shape(&self) -> &[usize] {
        &self.outputs[0].shape
    }

    /// The element type of X and Y.
    #[doc(hidden)]
    #[inline]
    pub fn dtype(&self) -> DType {
        self.inputs[0].dtype
    }

    /// The layout of X and Y.
    #[doc(hidden)]
    #[inline]
    pub fn layout(&self) -> Layout {
        self.inputs[0].layout
    }

    /// The spatial axes, outermost first.
    #[doc(hidden)]
    pub fn axes(&self) -> &[PoolAxis] {
        &self.axes
    }

    /// The type and convention of the indices; `None` for a pool of values only.
    pub fn indices(&self) -> Option<&IndexPlan> {
        self.indices.as_ref()
    }

    /// The rule for NaN in a window.
    pub fn nan_policy(&self) -> NanPolicy {
        self.nan_policy
    }

    /// The function that is applied to Y.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// Whether some window lies wholly in padding. The answer is `true` without a search if dilations step over the
    /// whole input and more than 2^16 windows begin in the begin padding.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    /// let plan = |pads| MaxPool::new([2]).pads(pads).plan(&[1, 1, 4], DType::F32, None);
    /// assert!(plan([0, 2])?.has_empty_windows());
    /// assert!(!plan([0, 1])?.has_empty_windows());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn has_empty_windows(&self) -> bool {
        self.axes.iter().any(|axis| axis.window.has_empty(axis.input, axis.output))
    }

    /// Whether no NaN can win, not even as the first element in X of its window.
    #[doc(hidden)]
    #[inline]
    pub fn ignores_nan(&self) -> bool {
        self.later_part && self.nan_policy == NanPolicy::SeedFirst
    }

    /// Whether an element replaces the best one before it in its window.
    #[doc(hidden)]
    pub fn replaces<T: Element>(&self, best: Option<T>, v: T) -> bool {
        match (self.nan_policy, best) {
            (NanPolicy::SeedFirst, None) => !(self.ignores_nan() && v.is_nan()),
            (NanPolicy::PropagateLast, None) => true,
            (NanPolicy::SeedFirst | NanPolicy::SeedLowest, Some(best)) => self.reduction.prefers(v, best),
            (NanPolicy::PropagateLast, Some(best)) => self.reduction.prefers(v, best) || v.is_nan(),
            (NanPolicy::SeedLowest, None) => self.reduction.prefers(v, self.seed()),
        }
    }

    /// The element of Y of a window that is not empty but has no winner, before the activation.
    #[doc(hidden)]
    pub fn lowest<T: Element>(&self) -> T {
        if self.ignores_nan() { T::from_bits64(T::DTYPE.nan_bits()) } else { self.seed() }
    }

    /// The element of Y of an empty window, before the activation.
    #[doc(hidden)]
    pub fn empty<T: Element>(&self) -> T {
        T::from_bits64(self.reduction.empty_bits(self.empty_value, T::DTYPE))
    }

    /// The element from which `NanPolicy::SeedLowest` starts.
    #[doc(hidden)]
    pub fn seed<T: Element>(&self) -> T {
        T::from_bits64(self.reduction.seed_bits(T::DTYPE))
    }

    /// The fewest bytes that computing the plan must move: X once, Y once, Indices once.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.inputs, &self.outputs)
    }

    /// Recomputes the tensors' shapes from batch, channels and axes.
    pub(crate) fn derive_tensors(&mut self, dtype: DType, layout: Layout) {
        let extents = |of: fn(&PoolAxis) -> usize| self.axes.iter().map(of).collect::<Vec<_>>();
        let (inputs, outputs) = (extents(|axis| axis.input), extents(|axis| axis.output));
        let spec = |dtype, layout, spatial: &[usize]| spec(dtype, layout, self.batch, self.channels, spatial);
        let indices = self.indices.as_ref();
        let indices = indices.map(|indices| spec(indices.index_type.dtype(), indices.space.layout, &outputs));
        (self.inputs, self.outputs) =
            (vec![spec(dtype, layout, &inputs)], [spec(dtype, layout, &outputs)].into_iter().chain(indices).collect());
    }

    /// Completes the tensors of a plan without indices, and checks sizes and activation.
    pub(crate) fn complete(mut self, dtype: DType, layout: Layout) -> Result<PoolPlan, PlanError> {
        self.derive_tensors(dtype, layout);
        element_count(self.input_shape())?;
        element_count(self.output_shape())?;
        check_activation(self.activation, dtype)?;
        Ok(self)
    }

    /// The same pool with indices, if their type can hold them.
    pub(crate) fn with_indices(mut self, indices: IndexPlan) -> Result<PoolPlan, PlanError> {
        check_index_type(indices.index_type, indices.space.index_count())?;
        let index_type = indices.index_type;
        let extremes = if self.output_shape().contains(&0) || !self.has_empty_windows() {
            None
        } else {
            Some(empty_index_extremes(&indices, &self.axes))
        };
        self.indices = Some(indices);
        self.derive_tensors(self.dtype(), self.layout());
        for index in extremes.into_iter().flatten() {
            let fits = match index_type {
                IndexType::I32 => i32::try_from(index).is_ok(),
                IndexType::I64 => i64::try_from(index).is_ok(),
            };
            if !fits {
                return Err(PlanError::EmptyIndexOverflow { index, index_type });
            }
        }
        Ok(self)
    }
}

/// An unpool, ready to be computed.
///
/// ```
/// use wgpu_pooling::{DType, IndexType, MaxUnpool};
///
/// let plan = MaxUnpool::new([2, 2]).strides([2, 2]).plan(&[1, 3, 4, 3], DType::F32, IndexType::I64)?;
/// assert_eq!(plan.output_shape(), &[1, 3, 8, 6]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct UnpoolPlan {
    /// X, then Indices.
    #[doc(hidden)]
    pub inputs: Vec<TensorSpec>,
    /// Y.
    #[doc(hidden)]
    pub outputs: Vec<TensorSpec>,
    #[doc(hidden)]
    pub batch: usize,
    #[doc(hidden)]
    pub channels: usize,
    /// Spatial extents of X, outermost first.
    #[doc(hidden)]
    pub x_extents: Vec<usize>,
    /// Spatial extents of Y, outermost first.
    #[doc(hidden)]
    pub y_extents: Vec<usize>,
    #[doc(hidden)]
    pub index_type: IndexType,
    #[doc(hidden)]
    pub space: IndexSpace,
    /// The windows of the pool from which the indices are expected to come, one per axis of X, on the index space. What
    /// becomes of indices outside these windows is the option `outside_window`. `None` where the windows exceed 64-bit
    /// positions.
    #[doc(hidden)]
    pub windows: Option<Vec<AxisWindow>>,
    /// Whether the index -1 marks an empty window and is skipped.
    #[doc(hidden)]
    pub skip_minus_one: bool,
    #[doc(hidden)]
    pub duplicates: Duplicates,
    #[doc(hidden)]
    pub out_of_bounds: OutOfBounds,
    #[doc(hidden)]
    pub outside_window: OutsideWindow,
    #[doc(hidden)]
    pub activation: Activation,
}

/// What the index of a source of an unpool names.
pub enum IndexTarget {
    /// An element of this batch item and channel.
    Element(usize, usize),
    /// No element, as the pool says with -1.
    Nothing,
    /// No element of the index space.
    OutOfRange,
    /// Nothing in the source's own window, where an index has to lie in it.
    Outside,
}

impl UnpoolPlan {
    /// The operator's name: `max_unpool`.
    pub fn operator(&self) -> &'static str {
        "max_unpool"
    }

    /// The tensors that are read: X, then Indices, whose layout is that of their convention.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 3, 4], DType::F16, IndexType::I32)?;
    /// let dtypes: Vec<DType> = plan.inputs().iter().map(|tensor| tensor.dtype).collect();
    /// assert_eq!(dtypes, [DType::F16, DType::I32]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn inputs(&self) -> &[TensorSpec] {
        &self.inputs
    }

    /// The tensors that are written: Y.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, Layout, MaxUnpool, TensorSpec};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 3, 4], DType::F32, IndexType::I64)?;
    /// assert_eq!(plan.outputs(), [TensorSpec { shape: vec![1, 3, 5], dtype: DType::F32, layout: Layout::Nchw }]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn outputs(&self) -> &[TensorSpec] {
        &self.outputs
    }

    /// The shape of X, in its layout.
    pub fn input_shape(&self) -> &[usize] {
        &self.inputs[0].shape
    }

    /// The shape of Y, in its layout.
    pub fn output_shape(&self) -> &[usize] {
        &self.outputs[0].shape
    }

    /// The element type of X and Y.
    #[doc(hidden)]
    #[inline]
    pub fn dtype(&self) -> DType {
        self.inputs[0].dtype
    }

    /// The layout of X and Y.
    #[doc(hidden)]
    #[inline]
    pub fn layout(&self) -> Layout {
        self.inputs[0].layout
    }

    /// The function that is applied to Y.
    pub fn activation(&self) -> Activation {
        self.activation
    }

    /// The type of the indices.
    pub fn index_type(&self) -> IndexType {
        self.index_type
    }

    /// The index convention, on the index space. Its extents are not Y's when the indices are flat in the inferred
    /// shape.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    ///
    /// let unpool = MaxUnpool::new([2]).output_shape([1, 3, 9]);
    /// let plan = unpool.plan(&[1, 3, 4], DType::F32, IndexType::I64)?;
    /// assert_eq!((plan.space().shape(), plan.space().index_count()), (vec![1, 3, 5], 15));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn space(&self) -> &IndexSpace {
        &self.space
    }

    /// Refuses indices of another convention than this plan's. A chain checks this for tensors whose convention is
    /// known; a program that knows where its indices come from can check it too.
    ///
    /// # Errors
    /// [`PlanError::IndexSpaceMismatch`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexFlattening, IndexSpace, IndexType, MaxUnpool};
    ///
    /// // PyTorch's indices count by plane, ONNX's through the tensor.
    /// let plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 3, 2], DType::F32, IndexType::I64)?;
    /// let onnx = IndexSpace::new(1, 3, [4]);
    /// assert!(plan.check_index_space(&onnx).is_ok());
    /// assert!(plan.check_index_space(&onnx.with_flatten(IndexFlattening::Plane)).is_err());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn check_index_space(&self, indices: &IndexSpace) -> Result<(), PlanError> {
        self.space.check_indices(indices)
    }

    /// The fewest bytes that computing the plan must move: X once, its indices once, Y once.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.inputs, &self.outputs)
    }

    /// Recomputes the tensors' shapes from batch, channels and extents.
    pub(crate) fn derive_tensors(&mut self, dtype: DType, layout: Layout) {
        let spec = |dtype, layout, spatial: &[usize]| spec(dtype, layout, self.batch, self.channels, spatial);
        let indices = spec(self.index_type.dtype(), self.space.layout, &self.x_extents);
        (self.inputs, self.outputs) =
            (vec![spec(dtype, layout, &self.x_extents), indices], vec![spec(dtype, layout, &self.y_extents)]);
    }

    /// Completes the tensors and checks sizes, index type and activation.
    pub(crate) fn complete(mut self, dtype: DType, layout: Layout) -> Result<UnpoolPlan, PlanError> {
        self.derive_tensors(dtype, layout);
        element_count(self.input_shape())?;
        element_count(self.output_shape())?;
        element_count(&assemble(layout, self.batch, self.channels, &self.space.extents))?;
        check_activation(self.activation, dtype)?;
        self.space.check()?;
        check_index_type(self.index_type, self.space.index_count())?;
        Ok(self)
    }
}

/// Integers have Relu and Clip only: specifications and runtimes do not agree on a rounding for the other activations.
fn check_activation(activation: Activation, dtype: DType) -> Result<(), PlanError> {
    activation.check_parameters()?;
    match activation {
        Activation::Identity | Activation::Relu | Activation::Clip { .. } => Ok(()),
        _ if dtype.is_float() => Ok(()),
        other => Err(PlanError::ActivationType { activation: other.name(), dtype }),
    }
}

/// The smallest and the largest index that an empty window can have, in exact arithmetic.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "coordinates have 64 bits and strides of a checked shape 58, so that 128 bits hold a sum of a dozen \
              products"
)]
fn empty_index_extremes(indices: &IndexPlan, axes: &[PoolAxis]) -> [i128; 2] {
    let strides = indices.space.strides();
    let last = |extent: usize| extent.max(1) as i128 - 1;
    let offset =
        last(indices.space.batch) * i128::from(strides.n) + last(indices.space.channels) * i128::from(strides.c);
    let spatial = |coordinate: &dyn Fn(&PoolAxis) -> i64| -> i128 {
        axes.iter().zip(&strides.spatial).map(|(axis, &stride)| i128::from(coordinate(axis)) * i128::from(stride)).sum()
    };
    match indices.empty {
        EmptyIndex::MinusOne => [-1, -1],
        EmptyIndex::UnitBase => [0, offset],
        EmptyIndex::OrtUnderflow => [spatial(&|_| -1), offset],
        EmptyIndex::ClampedStart => [0, offset + spatial(&|axis| axis.window.largest_first(axis.input, axis.output))],
    }
}
