//! Plans: what must be computed, as a value. No device, no data.

mod dimensions;
mod index_target;

use crate::attributes::Activation;
use crate::element::{DType, Element, IndexType};
use crate::error::PlanError;
use crate::geometry::{AxisWindow, Taps};
use crate::index::{IndexSpace, IndexStrides};
use crate::options::{Duplicates, EmptyIndex, Layout, NanPolicy, OutOfBounds, OutsideWindow};
use crate::reduction::Reduction;
use crate::tensor::{TensorSpec, count, element_count};

pub use dimensions::MAX_SPATIAL_AXES;
use dimensions::spec;
pub(crate) use dimensions::{Dimensions, assemble, check_index_type};

/// A computation: a pool, an unpool or a composition of pools, on tensors of known shapes and types. The `plan` of an
/// operator makes it.
///
/// ```
/// use wgpu_pooling::{DType, MaxPool};
/// let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(&[1, 3, 8, 6], DType::F32, None)?;
/// assert_eq!((plan.operator(), plan.output_shape()), ("max_pool", &[1, 3, 4, 3][..]));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub enum Plan {
    /// MaxPool, GlobalMaxPool or AdaptiveMaxPool.
    #[doc(hidden)]
    Pool(PoolPlan),
    /// MaxUnpool.
    #[doc(hidden)]
    Unpool(UnpoolPlan),
    /// A step of a composition.
    #[doc(hidden)]
    Difference(DifferencePlan),
    /// Open, Close, Gradient, TopHat or BlackHat.
    #[doc(hidden)]
    Composition(CompositionPlan),
}

impl Plan {
    /// The operator's name, such as `max_pool`, `adaptive_min_pool`, `dilate`, `max_unpool` or `top_hat`.
    pub fn operator(&self) -> &'static str {
        match self {
            Plan::Pool(plan) => plan.operator,
            Plan::Composition(plan) => plan.operator,
            Plan::Unpool(_) => "max_unpool",
            Plan::Difference(_) => "difference",
        }
    }

    /// An error unless the number of tensors is the plan's; `what` names them in the error.
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

    /// The plan of a pool; `None` for any other plan.
    #[doc(hidden)]
    pub fn pool(&self) -> Option<&PoolPlan> {
        match self {
            Plan::Pool(plan) => Some(plan),
            _ => None,
        }
    }

    /// What errors call a plan.
    #[doc(hidden)]
    pub fn kind(&self) -> &'static str {
        match self {
            Plan::Pool(_) => "pool",
            Plan::Unpool(_) => "unpool",
            Plan::Difference(_) => "difference",
            Plan::Composition(_) => "composition",
        }
    }

    /// The tensors that are read: X of a pool or of a composition, X and Indices of an unpool. The layout of Indices is
    /// that of their convention.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 3, 4], DType::F16, IndexType::I32)?;
    /// let dtypes: Vec<DType> = plan.inputs().iter().map(|tensor| tensor.dtype).collect();
    /// assert_eq!(dtypes, [DType::F16, DType::I32]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn inputs(&self) -> &[TensorSpec] {
        match self {
            Plan::Pool(plan) => &plan.inputs,
            Plan::Unpool(plan) => &plan.inputs,
            Plan::Difference(plan) => &plan.inputs,
            Plan::Composition(plan) => &plan.inputs,
        }
    }

    /// The tensors that are written: Y of a pool and, if requested, its Indices; Y of an unpool. The layout of Indices
    /// is that of their convention: NCHW, also for NHWC data, unless another is chosen.
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
        match self {
            Plan::Pool(plan) => &plan.outputs,
            Plan::Unpool(plan) => &plan.outputs,
            Plan::Difference(plan) => &plan.outputs,
            Plan::Composition(plan) => &plan.outputs,
        }
    }

    /// The shape of X, in its layout.
    pub fn input_shape(&self) -> &[usize] {
        &self.inputs()[0].shape
    }

    /// The shape of Y, in its layout.
    pub fn output_shape(&self) -> &[usize] {
        &self.outputs()[0].shape
    }

    /// The convention of the indices that a pool writes or an unpool reads; `None` for a pool without indices.
    ///
    /// [`IndexSpace::agrees_with`] says whether indices from a known source count as the unpool's. The space is not
    /// that of Y where indices are flat in the inferred shape.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexFlattening, IndexSpace, IndexType, MaxUnpool};
    ///
    /// let plan = MaxUnpool::new([2]).output_shape([1, 3, 9]).plan(&[1, 3, 4], DType::F32, IndexType::I64)?;
    /// let space = plan.index_space().expect("an unpool has indices");
    /// assert_eq!((space.shape(), space.index_count()), (vec![1, 3, 5], 15));
    ///
    /// // PyTorch's indices count by plane, ONNX's through the tensor.
    /// let onnx = IndexSpace::new(1, 3, [5]);
    /// assert!(space.agrees_with(&onnx));
    /// assert!(!space.agrees_with(&onnx.with_flatten(IndexFlattening::Plane)));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn index_space(&self) -> Option<&IndexSpace> {
        match self {
            Plan::Pool(plan) => plan.indices.as_ref().map(|indices| &indices.space),
            Plan::Unpool(plan) => Some(&plan.space),
            Plan::Difference(_) | Plan::Composition(_) => None,
        }
    }

    /// The type of the indices that a pool writes or an unpool reads; `None` for a pool without indices.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxPool};
    /// let plan = MaxPool::new([2]).plan(&[1, 3, 4], DType::F32, Some(IndexType::I32))?;
    /// assert_eq!(plan.index_type(), Some(IndexType::I32));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn index_type(&self) -> Option<IndexType> {
        match self {
            Plan::Pool(plan) => plan.indices.as_ref().map(|indices| indices.index_type),
            Plan::Unpool(plan) => Some(plan.index_type),
            Plan::Difference(_) | Plan::Composition(_) => None,
        }
    }

    /// Whether some window of a pool, or of a pool of a composition, lies wholly in padding; `false` for an unpool. The
    /// answer is `true` without a search if dilations step over the whole input and more than 2^16 windows begin in the
    /// begin padding.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool};
    /// let plan = |pads| MaxPool::new([2]).pads(pads).plan(&[1, 1, 4], DType::F32, None);
    /// assert!(plan([0, 2])?.has_empty_windows());
    /// assert!(!plan([0, 1])?.has_empty_windows());
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn has_empty_windows(&self) -> bool {
        match self {
            Plan::Pool(plan) => plan.has_empty_windows(),
            Plan::Unpool(_) | Plan::Difference(_) => false,
            Plan::Composition(plan) => plan.steps.iter().any(|step| step.plan.has_empty_windows()),
        }
    }

    /// The fewest bytes that computing the plan must move: each input once, each output once.
    pub fn bytes(&self) -> u64 {
        self.inputs().iter().chain(self.outputs()).map(TensorSpec::bytes).fold(0, u64::saturating_add)
    }

    /// The most bytes of the host that lie between the steps of the plan at a time, where the host computes it.
    pub(crate) fn bytes_between(&self) -> u64 {
        if let Plan::Composition(plan) = self { plan.bytes_between() } else { 0 }
    }
}

/// One spatial axis of a pool.
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
    #[inline]
    pub fn taps(&self, o: usize) -> crate::geometry::Taps {
        self.window.taps(o, self.input)
    }

    /// The largest number of taps of a window inside the input.
    pub fn most_taps(&self) -> u64 {
        self.window.most_taps(self.input)
    }
}

/// The indices of a pool: their type, convention and value for empty windows.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexPlan {
    /// The integer type.
    pub index_type: IndexType,
    /// The convention. Its layout is the layout of the index tensor too.
    pub space: IndexSpace,
    /// The index of an empty window.
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
    /// The index of an empty window.
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

/// The plan of a pool: MaxPool, GlobalMaxPool and AdaptiveMaxPool differ only in their windows.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct PoolPlan {
    /// The operator's name.
    pub operator: &'static str,
    /// X.
    pub inputs: Vec<TensorSpec>,
    /// Y and, if requested, Indices.
    pub outputs: Vec<TensorSpec>,
    /// N.
    pub batch: usize,
    /// C.
    pub channels: usize,
    /// The spatial axes, outermost first.
    pub axes: Vec<PoolAxis>,
    /// Whether maxima or minima.
    pub reduction: Reduction,
    /// The rule for NaN in a window. Integers have no `Ignore`.
    pub nan_policy: NanPolicy,
    /// The bits of the element of Y of an empty window, before the activation.
    pub empty_bits: u64,
    /// The type and convention of the indices; `None` for a pool of values only.
    pub indices: Option<IndexPlan>,
    /// The function that is applied to Y.
    pub activation: Activation,
    /// The origin of X in the tensor that the index space counts.
    pub origin: Origin,
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
        self.flat_in_plane(strides, n, c, &whole)
    }

    /// The flat index, in the whole tensor, of coordinates that count from the begin of the plane.
    pub fn flat_in_plane(&self, strides: &IndexStrides, n: usize, c: usize, at: &[i64]) -> i64 {
        strides.flat(self.batch.saturating_add(n), self.channel.saturating_add(c), at)
    }
}

/// What the plans of pools and of unpools say of their tensors.
macro_rules! first_tensors {
    ($plan:ident) => {
        impl $plan {
            /// The shape of X, in its layout.
            pub fn input_shape(&self) -> &[usize] {
                &self.inputs[0].shape
            }

            /// The shape of Y, in its layout.
            pub fn output_shape(&self) -> &[usize] {
                &self.outputs[0].shape
            }

            /// The elements of X.
            pub fn input_elements(&self) -> u64 {
                self.inputs[0].element_count()
            }

            /// The elements of Y.
            pub fn output_elements(&self) -> u64 {
                self.outputs[0].element_count()
            }

            /// The element type of X and Y.
            #[inline]
            pub fn dtype(&self) -> DType {
                self.inputs[0].dtype
            }

            /// The layout of X and Y.
            #[inline]
            pub fn layout(&self) -> Layout {
                self.inputs[0].layout
            }

            /// The fewest bytes that computing the plan must move: each tensor once.
            pub fn bytes(&self) -> u64 {
                self.inputs.iter().chain(&self.outputs).map(TensorSpec::bytes).fold(0, u64::saturating_add)
            }
        }
    };
}

first_tensors!(PoolPlan);
first_tensors!(UnpoolPlan);
first_tensors!(DifferencePlan);

/// The plan of the difference of two tensors, element by element.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct DifferencePlan {
    /// X, then what is subtracted from it.
    pub inputs: Vec<TensorSpec>,
    /// Y.
    pub outputs: Vec<TensorSpec>,
}

impl DifferencePlan {
    /// The difference of two tensors like this one.
    pub fn of(tensor: &TensorSpec) -> DifferencePlan {
        DifferencePlan { inputs: vec![tensor.clone(), tensor.clone()], outputs: vec![tensor.clone()] }
    }
}

/// A step of a composition: a pool without indices or a difference, and the numbers of the tensors that it reads.
/// Tensor 0 is X, and tensor `n` is what step `n - 1` writes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanStep {
    /// The step by itself.
    pub plan: Plan,
    /// The numbers of its inputs, in the order of the inputs of its plan.
    pub inputs: Vec<usize>,
}

/// The plan of a composition: the last step writes Y, and what the others write lies between.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct CompositionPlan {
    /// The operator's name.
    pub operator: &'static str,
    /// X.
    pub inputs: Vec<TensorSpec>,
    /// Y.
    pub outputs: Vec<TensorSpec>,
    /// The steps, in an order in which each reads only X and what earlier steps write. There is at least one.
    pub steps: Vec<PlanStep>,
}

impl CompositionPlan {
    /// The composition of a first step, which reads X alone, and of further ones with the tensors that they read.
    pub(crate) fn new(operator: &'static str, first: PoolPlan, rest: Vec<PlanStep>) -> CompositionPlan {
        let inputs = first.inputs.clone();
        let steps: Vec<PlanStep> =
            [PlanStep { plan: Plan::Pool(first), inputs: vec![0] }].into_iter().chain(rest).collect();
        let outputs = steps.last().map_or_else(|| inputs.clone(), |step| step.plan.outputs().to_vec());
        CompositionPlan { operator, inputs, outputs, steps }
    }

    /// A tensor by its number.
    pub fn tensor(&self, number: usize) -> &TensorSpec {
        match number.checked_sub(1).and_then(|step| self.steps.get(step)) {
            Some(step) => &step.plan.outputs()[0],
            None => &self.inputs[0],
        }
    }

    /// The last step that reads a tensor; `None` for Y.
    pub fn last_reader(&self, number: usize) -> Option<usize> {
        self.steps.iter().rposition(|step| step.inputs.contains(&number))
    }

    /// The most bytes that tensors between X and Y take at a time, where each is kept until its last reader is done.
    pub(crate) fn bytes_between(&self) -> u64 {
        let held = |step: usize| {
            let between = (1..self.steps.len()).filter(|&number| number <= step.saturating_add(1));
            let kept = between.filter(|&number| self.last_reader(number) >= Some(step));
            kept.fold(0, |all: u64, number| all.saturating_add(self.tensor(number).bytes().next_multiple_of(8)))
        };
        (0..self.steps.len()).map(held).max().unwrap_or(0)
    }
}

impl PoolPlan {
    /// The planes: N times C.
    pub fn planes(&self) -> u64 {
        count(&[self.batch, self.channels])
    }

    /// An upper bound on the taps of a window inside the input; it saturates.
    pub fn most_taps(&self) -> u64 {
        self.axes.iter().fold(1, |taps: u64, axis| taps.saturating_mul(axis.most_taps()))
    }

    /// As [`Plan::has_empty_windows`].
    pub fn has_empty_windows(&self) -> bool {
        self.axes.iter().any(|axis| axis.window.has_empty(axis.input, axis.output))
    }

    /// Whether a NaN is no element, so that a window of NaN alone is empty.
    #[inline]
    pub fn ignores_nan(&self) -> bool {
        self.nan_policy == NanPolicy::Ignore
    }

    /// Whether a window can be empty: wholly in padding, or of NaN alone where these are ignored.
    pub fn may_be_empty(&self) -> bool {
        self.ignores_nan() || self.has_empty_windows()
    }

    /// Whether windows start from a value that elements have to exceed, and not from their first element.
    #[inline]
    pub fn starts_from_value(&self) -> bool {
        matches!(self.nan_policy, NanPolicy::SeedLowest | NanPolicy::Ignore)
    }

    /// Whether an element replaces the best one before it in its window.
    pub fn replaces<T: Element>(&self, best: Option<T>, v: T) -> bool {
        match (self.nan_policy, best) {
            (NanPolicy::SeedFirst | NanPolicy::PropagateLast, None) => true,
            (NanPolicy::Ignore, None) => !v.is_nan(),
            (NanPolicy::SeedLowest, None) => self.reduction.prefers(v, self.seed()),
            (NanPolicy::PropagateLast, Some(best)) => self.reduction.prefers(v, best) || v.is_nan(),
            (_, Some(best)) => self.reduction.prefers(v, best),
        }
    }

    /// The element of Y of an empty window, before the activation.
    pub fn empty<T: Element>(&self) -> T {
        T::from_bits64(self.empty_bits)
    }

    /// The value that windows start from, where the policy gives one. Under `NanPolicy::Ignore` it is -inf: a window
    /// with nothing larger is empty unless it contains -inf itself.
    pub fn seed<T: Element>(&self) -> T {
        T::from_bits64(match self.nan_policy {
            NanPolicy::Ignore => self.reduction.lowest_bits(T::DTYPE),
            _ => self.reduction.seed_bits(T::DTYPE),
        })
    }

    /// The index of the window at `out` in plane (n, c), if it is empty.
    pub fn empty_index(&self, indices: &IndexPlan, n: usize, c: usize, out: &[usize]) -> i64 {
        let strides = indices.space.strides();
        match indices.empty {
            EmptyIndex::MinusOne => -1,
            EmptyIndex::OrtUnderflow => self.origin.flat_in_plane(&strides, n, c, &vec![-1; out.len()]),
            EmptyIndex::UnitBase => self.origin.flat_in_plane(&strides, n, c, &[]),
            EmptyIndex::ClampedStart => {
                let first: Vec<i64> = self.axes.iter().zip(out).map(|(axis, &o)| axis.taps(o).first).collect();
                self.origin.flat(&strides, n, c, &first)
            }
        }
    }

    /// The same pool of minima.
    pub(crate) fn of_minima(self) -> PoolPlan {
        let dtype = self.dtype();
        let is_nan = dtype.is_float() && self.empty_bits == dtype.nan_bits();
        let mirrored = self.empty_bits ^ Reduction::Min.mirror_bits(dtype);
        PoolPlan { reduction: Reduction::Min, empty_bits: if is_nan { self.empty_bits } else { mirrored }, ..self }
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
        let overflows = |index: &i128| match index_type {
            IndexType::I32 => i32::try_from(*index).is_err(),
            IndexType::I64 => i64::try_from(*index).is_err(),
        };
        if !self.output_shape().contains(&0)
            && self.may_be_empty()
            && let Some(index) = empty_index_extremes(&indices, &self.axes).into_iter().find(overflows)
        {
            return Err(PlanError::EmptyIndexOverflow { index, index_type });
        }
        self.indices = Some(indices);
        self.derive_tensors(self.dtype(), self.layout());
        Ok(self)
    }
}

/// The plan of an unpool.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct UnpoolPlan {
    /// X, then Indices.
    pub inputs: Vec<TensorSpec>,
    /// Y.
    pub outputs: Vec<TensorSpec>,
    /// N.
    pub batch: usize,
    /// C.
    pub channels: usize,
    /// Spatial extents of X, outermost first.
    pub x_extents: Vec<usize>,
    /// Spatial extents of Y, outermost first.
    pub y_extents: Vec<usize>,
    /// The type of the indices.
    pub index_type: IndexType,
    /// Their convention.
    pub space: IndexSpace,
    /// The windows of the pool from which the indices are expected to come, one per axis of X, on the index space. What
    /// becomes of indices outside these windows is the option `outside_window`. `None` where the windows exceed 64-bit
    /// positions.
    pub windows: Option<Vec<AxisWindow>>,
    /// Whether the index -1 marks an empty window and is skipped.
    pub skip_minus_one: bool,
    /// Under `NanPolicy::SeedLowest`, a window without a winner has the index of its plane's first element. These are
    /// the sources, along each axis, whose windows hold that element; from all other sources such an index is skipped.
    pub first_elements: Option<Vec<Taps>>,
    /// Which source wins where indices agree.
    pub duplicates: Duplicates,
    /// What becomes of indices outside the index space.
    pub out_of_bounds: OutOfBounds,
    /// What becomes of indices outside the windows.
    pub outside_window: OutsideWindow,
    /// The function that is applied to Y.
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
    match indices.empty_base() {
        EmptyBase::Constant(index) => [index.into(); 2],
        EmptyBase::Plane(base) => [base.into(), offset + i128::from(base)],
        EmptyBase::ClampedStart => {
            let largest = |axis: &PoolAxis| i128::from(axis.window.largest_first(axis.input, axis.output));
            let spatial = axes.iter().zip(&strides.spatial).map(|(axis, &stride)| largest(axis) * i128::from(stride));
            [0, offset + spatial.sum::<i128>()]
        }
    }
}
