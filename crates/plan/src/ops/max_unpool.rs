//! ONNX MaxUnpool (opset 9, 11, 22).

use super::node::{axes, extents, read_attributes};
use crate::attributes::{Activation, Attribute, Ints};
use crate::element::{DType, Index, IndexType};
use crate::error::PlanError;
use crate::geometry::{AxisWindow, Taps, max_unpool_axis, max_unpool_window};
use crate::index::IndexSpace;
use crate::options::{
    Duplicates, EmptyIndex, IndexFlattening, Layout, NanPolicy, OutOfBounds, OutsideWindow, StorageOrder,
    UnpoolMinSize, UnpoolSpace,
};
use crate::plan::{Dimensions, IndexPlan, Plan, PoolAxis, PoolPlan, UnpoolPlan};
use crate::pooling::Pooling;
use crate::request::{AsTensor, Request};
use crate::tensor::Tensor;
use crate::untyped::TensorRef;

const OPERATOR: &str = "MaxUnpool";

/// Scatters values to the positions that indices name; everything else is zero (ONNX MaxUnpool, opset 9, 11 and 22).
///
/// **To undo a pool, use [`inverse_of`](MaxUnpool::inverse_of)**: it takes the index space and the output shape from
/// the pool, so the result is unambiguous. The ONNX operator's own meaning of `output_shape` is contested: see
/// [`unpool_space`](MaxUnpool::unpool_space).
///
/// Indices are untrusted: those outside the index space are an error or are skipped ([`OutOfBounds`]), and nothing
/// outside the output is ever written.
///
/// ```
/// use wgpu_pooling::{MaxPool, MaxUnpool, Reference, TensorView};
///
/// let pool = MaxPool::new([2, 2]).strides([2, 2]);
/// let y = TensorView::new(&[1, 1, 1, 2], &[5.0f32, 7.0])?;
/// let indices = TensorView::new(&[1, 1, 1, 2], &[1i64, 6])?;
/// let back = MaxUnpool::inverse_of(&pool, &[1, 1, 2, 4]).on(y, indices).run_blocking(&Reference)?;
/// assert_eq!(back.data(), &[0.0, 5.0, 0.0, 0.0, 0.0, 0.0, 7.0, 0.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct MaxUnpool {
    target: OutputOrigin,
    duplicates: Duplicates,
    out_of_bounds: OutOfBounds,
    outside_window: OutsideWindow,
    activation: Activation,
    /// An attribute that was set on the inverse of a pool, although the pool determines it.
    overridden: Option<&'static str>,
}

/// The origin of the output's extents and of the index space.
#[derive(Debug, Clone, PartialEq)]
enum OutputOrigin {
    OwnAttributes(OwnAttributes),
    /// The plan of a pool on its input's shape.
    Pool(Box<Result<PoolPlan, PlanError>>),
}

/// What an unpool has unless it takes it from a pool.
#[derive(Debug, Clone, PartialEq, Default)]
struct OwnAttributes {
    kernel_shape: Vec<i64>,
    strides: Option<Vec<i64>>,
    pads: Option<Vec<i64>>,
    output_shape: Option<Vec<i64>>,
    layout: Layout,
    index_layout: Layout,
    flatten: IndexFlattening,
    index_order: StorageOrder,
    unpool_space: UnpoolSpace,
    unpool_min_size: Option<UnpoolMinSize>,
}

/// The output's extents and the index space of a target, for a given X.
struct Resolved {
    outputs: Vec<usize>,
    space: IndexSpace,
    windows: Option<Vec<AxisWindow>>,
    skip_minus_one: bool,
    first_elements: Option<Vec<Taps>>,
}

impl MaxUnpool {
    /// An unpool with this `kernel_shape`, strides 1 and no pads. The output's extents are inferred:
    /// `(input - 1) * stride - pads + kernel` on each axis (ONNX MaxUnpool).
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    /// let plan = MaxUnpool::new([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 5]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn new(kernel_shape: impl Ints) -> Self {
        let kernel_shape = kernel_shape.as_ref().to_vec();
        MaxUnpool::with_target(OutputOrigin::OwnAttributes(OwnAttributes { kernel_shape, ..OwnAttributes::default() }))
    }

    fn with_target(target: OutputOrigin) -> Self {
        MaxUnpool {
            target,
            duplicates: Duplicates::default(),
            out_of_bounds: OutOfBounds::default(),
            outside_window: OutsideWindow::default(),
            activation: Activation::default(),
            overridden: None,
        }
    }

    /// The unpool that puts the maxima of `pool`, run on an X of `input_shape`, back to their positions.
    ///
    /// Output shape, layout and index convention are the pool's, also for dilated and adaptive pools; the index -1 of
    /// an empty window is skipped. Of a pool with [`NanPolicy::SeedLowest`], the index of a plane's first element is
    /// skipped where the window lacks that element: nothing won there. Only `duplicates`, `out_of_bounds`,
    /// `outside_window` and `activation` can be set afterwards; setting any other attribute or convention is an error
    /// of [`plan`](MaxUnpool::plan).
    ///
    /// # Errors
    /// [`plan`](MaxUnpool::plan) returns the errors of the pool's own plan, and [`PlanError::NotInvertible`] for a pool
    /// whose empty windows have an index that could be an element's.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, MaxUnpool, Reference, TensorView};
    ///
    /// let x = TensorView::new(&[1, 1, 4], &[1u8, 9, 2, 3])?;
    /// let pool = MaxPool::new([2]).dilations([2]);
    /// let (y, indices) = pool.on(x).with_indices::<i64>().run_blocking(&Reference)?;
    /// let unpool = MaxUnpool::inverse_of(&pool, x.shape());
    /// assert_eq!(unpool.on(&y, &indices).run_blocking(&Reference)?.data(), &[0, 9, 2, 0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn inverse_of(pool: &(impl Pooling + ?Sized), input_shape: &[usize]) -> Self {
        // An index space does not depend on the element type. `plan` is given the unpool's element type.
        let plan = pool.plan_and_rules(input_shape, DType::F32);
        let plan = plan.and_then(|(plan, rules)| plan.with_indices(IndexPlan { index_type: IndexType::I64, ..rules }));
        MaxUnpool::with_target(OutputOrigin::Pool(Box::new(plan)))
    }

    /// An unpool from the attributes of an ONNX node, by name. `output_shape` is an input there: give it to
    /// [`output_shape`](MaxUnpool::output_shape).
    ///
    /// # Errors
    /// As [`MaxPool::from_onnx`](crate::MaxPool::from_onnx).
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, MaxUnpool};
    ///
    /// let node = [("kernel_shape", Attribute::Ints(vec![2])), ("strides", Attribute::Ints(vec![2]))];
    /// assert_eq!(MaxUnpool::from_onnx(node)?, MaxUnpool::new([2]).strides([2]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn from_onnx<S: AsRef<str>>(attributes: impl IntoIterator<Item = (S, Attribute)>) -> Result<Self, PlanError> {
        let unpool = MaxUnpool::new([]).with_attributes(attributes)?;
        match &unpool.target {
            OutputOrigin::OwnAttributes(own) if own.kernel_shape.is_empty() => {
                Err(PlanError::MissingAttribute { operator: OPERATOR, attribute: "kernel_shape" })
            }
            _ => Ok(unpool),
        }
    }

    /// This unpool with attributes by their ONNX names. Other options stay as they are, such as the strides that
    /// PyTorch's preset takes from its kernel; for a model's node, whose absent attributes have ONNX's defaults, see
    /// [`Node`](crate::Node).
    ///
    /// # Errors
    /// As [`MaxUnpool::from_onnx`]; `kernel_shape` is not required.
    ///
    /// ```
    /// use wgpu_pooling::{Attribute, MaxUnpool};
    ///
    /// let unpool = MaxUnpool::pytorch([2]).with_attributes([("pads", Attribute::Ints(vec![0, 1]))])?;
    /// assert_eq!(unpool, MaxUnpool::pytorch([2]).pads([0, 1]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn with_attributes<S: AsRef<str>>(
        mut self,
        attributes: impl IntoIterator<Item = (S, Attribute)>,
    ) -> Result<Self, PlanError> {
        let activation = read_attributes(OPERATOR, attributes, |name, value| {
            match name {
                "kernel_shape" => {
                    let kernel_shape = value.ints(name)?.to_vec();
                    self.set("kernel_shape", |own| own.kernel_shape = kernel_shape);
                }
                "strides" => {
                    let strides = Some(value.ints(name)?.to_vec());
                    self.set("strides", |own| own.strides = strides);
                }
                "pads" => {
                    let pads = Some(value.ints(name)?.to_vec());
                    self.set("pads", |own| own.pads = pads);
                }
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        self.activation = activation.unwrap_or(self.activation);
        Ok(self)
    }

    /// `strides`: elements from one window's start to the next, at least 1. Default 1. Not for the inverse of a pool.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    /// let plan = MaxUnpool::new([2]).strides([3]).plan(&[1, 1, 4], DType::F32, IndexType::I64)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 11]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn strides(mut self, values: impl Ints) -> Self {
        self.set("strides", |own| own.strides = Some(values.as_ref().to_vec()));
        self
    }

    /// `pads`: all begins, then all ends. They shrink the inferred shape and never shift a value. Not for the inverse
    /// of a pool.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    /// let plan = MaxUnpool::new([2]).strides([2]).pads([1, 1]).plan(&[1, 1, 4], DType::F32, IndexType::I64)?;
    /// assert_eq!(plan.output_shape(), &[1, 1, 6]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    #[doc(alias = "padding")]
    pub fn pads(mut self, values: impl Ints) -> Self {
        self.set("pads", |own| own.pads = Some(values.as_ref().to_vec()));
        self
    }

    /// The input `output_shape`: N, C and the spatial extents, in this order also when X is NHWC. Not for the inverse
    /// of a pool.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool};
    ///
    /// let unpool = MaxUnpool::new([2]).strides([2]);
    /// assert_eq!(unpool.plan(&[1, 1, 4], DType::F32, IndexType::I64)?.output_shape(), &[1, 1, 8]);
    /// let unpool = unpool.output_shape([1, 1, 9]);
    /// assert_eq!(unpool.plan(&[1, 1, 4], DType::F32, IndexType::I64)?.output_shape(), &[1, 1, 9]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn output_shape(mut self, values: impl Ints) -> Self {
        self.set("output_shape", |own| own.output_shape = Some(values.as_ref().to_vec()));
        self
    }

    /// The layout of X and Y. Default NCHW. Indices and `output_shape` stay in NCHW order also for NHWC data, as in
    /// onnxruntime.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, Layout, MaxUnpool};
    ///
    /// let unpool = MaxUnpool::new([2]).strides([2]).layout(Layout::Nhwc);
    /// let plan = unpool.plan(&[1, 4, 3], DType::F32, IndexType::I64)?;
    /// assert_eq!((plan.output_shape(), &plan.inputs()[1].shape[..]), (&[1, 8, 3][..], &[1, 3, 4][..]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn layout(mut self, layout: Layout) -> Self {
        self.set("layout", |own| own.layout = layout);
        self
    }

    /// The layout of the index tensor and of the indices' arithmetic. Default NCHW, also for NHWC data. No convention
    /// counts through NHWC planes.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, Layout, MaxUnpool};
    ///
    /// let unpool = MaxUnpool::new([2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc);
    /// assert_eq!(unpool.plan(&[1, 4, 3], DType::F32, IndexType::I64)?.inputs()[1].shape, [1, 4, 3]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn index_layout(mut self, layout: Layout) -> Self {
        self.set("index_layout", |own| own.index_layout = layout);
        self
    }

    /// The range that an index counts through. Default: the whole tensor.
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, MaxUnpool, Reference, TensorView};
    ///
    /// let (x, indices) = (TensorView::new(&[1, 2, 1], &[5u8, 6])?, TensorView::new(&[1, 2, 1], &[1i64, 0])?);
    /// let unpool = MaxUnpool::new([2]).flatten(IndexFlattening::Plane);
    /// assert_eq!(unpool.on(x, indices).run_blocking(&Reference)?.data(), &[0, 5, 6, 0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn flatten(mut self, flatten: IndexFlattening) -> Self {
        self.set("flatten", |own| own.flatten = flatten);
        self
    }

    /// The order in which an index counts spatial coordinates. Default row major. No peer's unpool takes column-major
    /// indices.
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, Reference, StorageOrder, TensorView};
    ///
    /// let (x, index) = (TensorView::new(&[1, 1, 1, 1], &[5u8])?, TensorView::new(&[1, 1, 1, 1], &[1i64])?);
    /// let unpool = MaxUnpool::new([2, 2]).index_order(StorageOrder::ColumnMajor);
    /// assert_eq!(unpool.on(x, index).run_blocking(&Reference)?.data(), &[0, 0, 5, 0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn index_order(mut self, order: StorageOrder) -> Self {
        self.set("index_order", |own| own.index_order = order);
        self
    }

    /// The shape in which indices are flat when `output_shape` is given. Default [`UnpoolSpace::InferredTopLeft`], as
    /// in ONNX's published example (onnx#2398, onnx#8413).
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, UnpoolSpace};
    ///
    /// let unpool = MaxUnpool::new([2, 2]).strides([2, 2]).output_shape([1, 1, 5, 5]);
    /// let plan = unpool.plan(&[1, 1, 2, 2], DType::F32, IndexType::I64)?;
    /// assert_eq!(plan.index_space().map(|space| space.shape()), Some(vec![1, 1, 4, 4]));
    /// let unpool = unpool.unpool_space(UnpoolSpace::OutputShape);
    /// let plan = unpool.plan(&[1, 1, 2, 2], DType::F32, IndexType::I64)?;
    /// assert_eq!(plan.index_space().map(|space| space.shape()), Some(vec![1, 1, 5, 5]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn unpool_space(mut self, space: UnpoolSpace) -> Self {
        self.set("unpool_space", |own| own.unpool_space = space);
        self
    }

    /// How small `output_shape` may be. Default: with `InferredTopLeft` at least the inferred extent on each axis, with
    /// `OutputShape` any size.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, UnpoolMinSize, UnpoolSpace};
    ///
    /// let unpool = MaxUnpool::new([2]).strides([2]).output_shape([1, 1, 5]).unpool_space(UnpoolSpace::OutputShape);
    /// assert!(unpool.plan(&[1, 1, 3], DType::F32, IndexType::I64).is_ok());
    /// let unpool = unpool.unpool_min_size(UnpoolMinSize::PerAxis);
    /// assert!(unpool.plan(&[1, 1, 3], DType::F32, IndexType::I64).is_err(), "6 are inferred");
    /// ```
    pub fn unpool_min_size(mut self, rule: UnpoolMinSize) -> Self {
        self.set("unpool_min_size", |own| own.unpool_min_size = Some(rule));
        self
    }

    /// Which of several equal indices wins. Default: the last in (n, c, spatial) order.
    ///
    /// ```
    /// use wgpu_pooling::{Duplicates, MaxUnpool};
    /// assert_eq!(MaxUnpool::new([2]).duplicates(Duplicates::LastWins), MaxUnpool::new([2]));
    /// assert_ne!(MaxUnpool::new([2]).duplicates(Duplicates::Any), MaxUnpool::new([2]));
    /// ```
    pub fn duplicates(mut self, rule: Duplicates) -> Self {
        self.duplicates = rule;
        self
    }

    /// The rule for indices outside the index space. Default: they are an error of the call.
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, OutOfBounds, Reference, TensorView};
    ///
    /// let (x, indices) = (TensorView::new(&[1, 1, 2], &[5u8, 6])?, TensorView::new(&[1, 1, 2], &[-1i64, 2])?);
    /// let unpool = MaxUnpool::new([2]).out_of_bounds(OutOfBounds::Skip);
    /// assert_eq!(unpool.on(x, indices).run_blocking(&Reference)?.data(), &[0, 0, 6]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn out_of_bounds(mut self, rule: OutOfBounds) -> Self {
        self.out_of_bounds = rule;
        self
    }

    /// The rule for indices outside their own windows. Default: they are scattered as any other. With another rule an
    /// unpool on a GPU is, at best, a single dispatch: for indices of a pool whose windows touch or overlap a little.
    ///
    /// ```
    /// use wgpu_pooling::{select, Choice, DType, IndexType, Limits, MaxPool, MaxUnpool, OutsideWindow};
    ///
    /// let pool = MaxPool::new([2, 2]).strides([2, 2]);
    /// let unpool = MaxUnpool::inverse_of(&pool, &[1, 8, 64, 64]).outside_window(OutsideWindow::Error);
    /// let plan = unpool.plan(&[1, 8, 32, 32], DType::F32, IndexType::I64)?;
    /// assert_eq!(select(&plan, &Limits::WEBGPU, &Choice::default())?.dispatches().len(), 1);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn outside_window(mut self, rule: OutsideWindow) -> Self {
        self.outside_window = rule;
        self
    }

    /// A function applied to every element of Y after the scatter, filled zeros included.
    ///
    /// ```
    /// use wgpu_pooling::{Activation, MaxUnpool, Reference, TensorView};
    ///
    /// let (x, indices) = (TensorView::new(&[1, 1, 1], &[9i8])?, TensorView::new(&[1, 1, 1], &[1i64])?);
    /// let unpool = MaxUnpool::new([2]).activation(Activation::Clip { min: 1.0, max: 6.0 });
    /// assert_eq!(unpool.on(x, indices).run_blocking(&Reference)?.data(), &[1, 6]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn activation(mut self, activation: Activation) -> Self {
        self.activation = activation;
        self
    }

    /// Sets an attribute. That of an inverse comes from the pool, and `plan` refuses another one.
    fn set(&mut self, attribute: &'static str, set: impl FnOnce(&mut OwnAttributes)) {
        match &mut self.target {
            OutputOrigin::OwnAttributes(own) => set(own),
            OutputOrigin::Pool(_) => self.overridden = Some(attribute),
        }
    }

    /// This unpool of `x` at these indices, to be run on a backend.
    ///
    /// ```
    /// use wgpu_pooling::{MaxUnpool, Reference, TensorView};
    /// let x = TensorView::new(&[1, 1, 2], &[5.0f32, 6.0])?;
    /// let indices = TensorView::new(&[1, 1, 2], &[1, 2])?;
    /// let y = MaxUnpool::new([2]).strides([2]).on(x, indices).run_blocking(&Reference)?;
    /// assert_eq!(y.data(), &[0.0, 5.0, 6.0, 0.0]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn on<'a, X: AsTensor<'a>, I: AsTensor<'a, Element: Index>>(
        &self,
        x: X,
        indices: I,
    ) -> Request<'a, Tensor<X::Element>> {
        let plan = |x: &TensorRef<'_>| self.plan(x.shape(), x.dtype(), I::Element::INDEX_TYPE);
        Request::of(x.tensor().and_then(|x| Ok((plan(&x)?, vec![x, indices.tensor()?]))))
    }

    /// The plan for an X of this shape and type and indices of this type.
    ///
    /// # Errors
    /// A [`PlanError`] with the numbers: wrong lengths, an inferred extent below 1, an `output_shape` that is too small
    /// or whose N and C are not X's, and others.
    ///
    /// ```
    /// use wgpu_pooling::{DType, IndexType, MaxUnpool, PlanError};
    ///
    /// let unpool = MaxUnpool::new([2]).strides([2]).output_shape([1, 1, 5]);
    /// let error = unpool.plan(&[1, 1, 3], DType::F32, IndexType::I64).unwrap_err();
    /// assert_eq!(error, PlanError::OutputShapeTooSmall { axis: 0, given: 5, inferred: 6 });
    /// ```
    pub fn plan(&self, shape: &[usize], dtype: DType, index_type: IndexType) -> Result<Plan, PlanError> {
        if let Some(second) = self.overridden {
            return Err(PlanError::Combination { first: "inverse_of", second });
        }
        let layout = match &self.target {
            OutputOrigin::OwnAttributes(own) => own.layout,
            OutputOrigin::Pool(pool) => pool.as_ref().as_ref().map_err(Clone::clone)?.layout(),
        };
        let dimensions = Dimensions::of(shape, layout)?;
        let Resolved { outputs, space, windows, skip_minus_one, first_elements } = match &self.target {
            OutputOrigin::OwnAttributes(own) => own.resolve(&dimensions)?,
            OutputOrigin::Pool(pool) => inverse(pool.as_ref().as_ref().map_err(Clone::clone)?, shape)?,
        };
        if windows.is_none() && self.outside_window != OutsideWindow::Scatter {
            let second = "outside_window";
            return Err(PlanError::Combination { first: "windows beyond 64-bit positions", second });
        }
        let plan = UnpoolPlan {
            inputs: Vec::new(),
            outputs: Vec::new(),
            batch: dimensions.batch,
            channels: dimensions.channels,
            x_extents: dimensions.spatial,
            y_extents: outputs,
            index_type,
            space,
            windows,
            skip_minus_one,
            first_elements,
            duplicates: self.duplicates,
            out_of_bounds: self.out_of_bounds,
            outside_window: self.outside_window,
            activation: self.activation,
        };
        Ok(Plan::Unpool(plan.complete(dtype, layout)?))
    }
}

impl OwnAttributes {
    /// The output's extents and the index space, from the inferred extents and `output_shape`.
    fn resolve(&self, dimensions: &Dimensions) -> Result<Resolved, PlanError> {
        let lists = [self.strides.as_deref(), None, self.pads.as_deref()];
        let attributes = axes(&dimensions.spatial, &self.kernel_shape, lists)?;
        let inferred = attributes.iter().map(max_unpool_axis).collect::<Result<Vec<_>, _>>()?;
        let positive = || match inferred.iter().position(|&extent| extent < 1) {
            Some(axis) => Err(PlanError::InferredNotPositive { axis, inferred: inferred[axis] }),
            None => Ok(inferred.iter().map(|&extent| extent as usize).collect::<Vec<_>>()),
        };
        let (outputs, extents) = match &self.output_shape {
            None => {
                let extents = positive()?;
                (extents.clone(), extents)
            }
            Some(output_shape) => {
                let outputs = given_extents(output_shape, dimensions)?;
                let extents = match self.unpool_space {
                    UnpoolSpace::InferredTopLeft => {
                        let extents = positive()?;
                        // The inferred block is placed at the origin of the output, so it has to fit on each axis,
                        // whatever the other options are.
                        check_size(UnpoolMinSize::PerAxis, &outputs, &inferred)?;
                        extents
                    }
                    UnpoolSpace::OutputShape => outputs.clone(),
                };
                check_size(self.unpool_min_size.unwrap_or(UnpoolMinSize::None), &outputs, &inferred)?;
                (outputs, extents)
            }
        };
        let space = IndexSpace::new(dimensions.batch, dimensions.channels, extents);
        let space = space.with_flatten(self.flatten).with_order(self.index_order).with_layout(self.index_layout);
        let windows = attributes.iter().map(max_unpool_window).collect();
        Ok(Resolved { outputs, space, windows, skip_minus_one: false, first_elements: None })
    }
}

/// The spatial extents of an `output_shape`, whose N and C have to be those of X.
fn given_extents(output_shape: &[i64], dimensions: &Dimensions) -> Result<Vec<usize>, PlanError> {
    let (expected, actual) = (dimensions.spatial.len().saturating_add(2), output_shape.len());
    if expected != actual {
        return Err(PlanError::AttributeLength { attribute: "output_shape", expected, actual });
    }
    let mut given = extents("output_shape", output_shape)?;
    let (expected, outputs) = ([dimensions.batch, dimensions.channels], given.split_off(2));
    match given[..] == expected {
        true => Ok(outputs),
        false => Err(PlanError::OutputShapeOuter { given: [given[0], given[1]], expected }),
    }
}

/// Refuses an `output_shape` below the inferred shape.
fn check_size(rule: UnpoolMinSize, outputs: &[usize], inferred: &[i64]) -> Result<(), PlanError> {
    match rule {
        UnpoolMinSize::None => Ok(()),
        UnpoolMinSize::PerAxis => {
            let below = |axis: &usize| (outputs[*axis] as i128) < i128::from(inferred[*axis]);
            match (0..outputs.len()).find(below) {
                Some(axis) => {
                    Err(PlanError::OutputShapeTooSmall { axis, given: outputs[axis], inferred: inferred[axis] })
                }
                None => Ok(()),
            }
        }
        UnpoolMinSize::ElementCount => {
            let product = |extents: &mut dyn Iterator<Item = u64>| extents.fold(1u64, u64::saturating_mul);
            let given = product(&mut outputs.iter().map(|&extent| extent as u64));
            let count = product(&mut inferred.iter().map(|&extent| extent.max(0) as u64));
            match given < count {
                // More elements than 64 bits count: an axis is below.
                true if count == u64::MAX => check_size(UnpoolMinSize::PerAxis, outputs, inferred),
                true => Err(PlanError::OutputCountTooSmall { given, inferred: count }),
                false => Ok(()),
            }
        }
    }
}

/// The output's extents and the index space of the inverse of a pool. Both are those of the pool's input.
fn inverse(pool: &PoolPlan, shape: &[usize]) -> Result<Resolved, PlanError> {
    if shape != pool.output_shape() {
        return Err(PlanError::InverseShape { expected: pool.output_shape().to_vec(), actual: shape.to_vec() });
    }
    // `inverse_of` plans with indices.
    let indices =
        pool.indices.as_ref().ok_or(PlanError::MissingAttribute { operator: "MaxUnpool", attribute: "Indices" })?;
    let skip_minus_one = pool.may_be_empty();
    if skip_minus_one && indices.empty != EmptyIndex::MinusOne {
        return Err(PlanError::NotInvertible { empty_index: indices.empty });
    }
    let windows = Some(pool.axes.iter().map(|axis| axis.window).collect());
    let of_first = |axis: &PoolAxis| axis.window.windows_of_first(axis.input, axis.output);
    let first_elements = (pool.nan_policy == NanPolicy::SeedLowest).then(|| pool.axes.iter().map(of_first).collect());
    let space = indices.space.clone();
    Ok(Resolved { outputs: space.extents.clone(), space, windows, skip_minus_one, first_elements })
}
