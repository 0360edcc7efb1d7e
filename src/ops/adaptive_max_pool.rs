//! OpenVINO AdaptiveMaxPool-8.

use super::node::{IndexOptions, Pooling, extents};
use crate::attributes::Activation;
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::geometry::AxisWindow;
use crate::options::{EmptyIndex, EmptyValue, IndexFlattening, Layout, NanPolicy, StorageOrder};
use crate::plan::{Dimensions, IndexPlan, Origin, PoolAxis, PoolPlan};
use crate::reduction::Reduction;

/// Max pooling to a given output size (OpenVINO AdaptiveMaxPool-8).
///
/// Window `i` of an axis covers the elements from `floor(i * input / output)` up to, not including,
/// `ceil((i + 1) * input / output)`, in exact integers. Indices count through each plane by default.
///
/// ```
/// use wgpu_pooling::{reference, AdaptiveMaxPool, DType, IndexType, TensorView};
///
/// let x = TensorView::new([1, 1, 5], &[1.0f32, 4.0, 2.0, 3.0, 0.0])?;
/// let plan = AdaptiveMaxPool::new([2]).plan(x.shape(), DType::F32, Some(IndexType::I32))?;
/// let (y, indices) = reference::max_pool_with_indices::<f32, i32>(&plan, x)?;
/// assert_eq!((y.data(), indices.data()), (&[4.0, 3.0][..], &[1, 3][..]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptiveMaxPool {
    output_size: Vec<i64>,
    layout: Layout,
    index_layout: Layout,
    flatten: IndexFlattening,
    index_order: StorageOrder,
    nan_policy: NanPolicy,
}

impl AdaptiveMaxPool {
    /// A pool to this `output_size`, one extent for each spatial axis. An extent of 0 gives an empty output.
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, DType};
    ///
    /// let output_shape = |size| AdaptiveMaxPool::new([size]).plan(&[1, 3, 5], DType::F32, None);
    /// assert_eq!(output_shape(2)?.output_shape(), &[1, 3, 2]);
    /// assert_eq!(output_shape(0)?.output_shape(), &[1, 3, 0]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn new(output_size: impl AsRef<[i64]>) -> Self {
        AdaptiveMaxPool {
            output_size: output_size.as_ref().to_vec(),
            layout: Layout::default(),
            index_layout: Layout::default(),
            flatten: IndexFlattening::Plane,
            index_order: StorageOrder::default(),
            nan_policy: NanPolicy::default(),
        }
    }

    /// The layout of X and Y. Default NCHW.
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, DType, Layout};
    /// let plan = AdaptiveMaxPool::new([2]).layout(Layout::Nhwc).plan(&[1, 5, 3], DType::F32, None)?;
    /// assert_eq!(plan.output_shape(), &[1, 2, 3]);
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The layout of the indices. Default NCHW, also for NHWC data. No convention counts through NHWC planes, so NHWC
    /// needs another [`flatten`](AdaptiveMaxPool::flatten) than the default.
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, DType, IndexFlattening, IndexType, Layout};
    ///
    /// let pool = AdaptiveMaxPool::new([2]).index_layout(Layout::Nhwc);
    /// assert!(pool.plan(&[1, 3, 5], DType::F32, Some(IndexType::I64)).is_err());
    /// let plan = pool.flatten(IndexFlattening::Batch).plan(&[1, 3, 5], DType::F32, Some(IndexType::I64))?;
    /// assert_eq!((plan.output_shape(), &plan.outputs()[1].shape[..]), (&[1, 3, 2][..], &[1, 2, 3][..]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn index_layout(mut self, layout: Layout) -> Self {
        self.index_layout = layout;
        self
    }

    /// The range that an index counts through. Default: its plane, as in OpenVINO AdaptiveMaxPool-8.
    ///
    /// ```
    /// use wgpu_pooling::{reference, AdaptiveMaxPool, DType, IndexFlattening, IndexType, TensorView};
    ///
    /// let x = TensorView::new([1, 2, 2], &[1u8, 2, 4, 3])?;
    /// let pool = AdaptiveMaxPool::new([1]).flatten(IndexFlattening::Tensor);
    /// let plan = pool.plan(x.shape(), DType::U8, Some(IndexType::I64))?;
    /// assert_eq!(reference::max_pool_with_indices::<u8, i64>(&plan, x)?.1.data(), &[1, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn flatten(mut self, flatten: IndexFlattening) -> Self {
        self.flatten = flatten;
        self
    }

    /// The order in which an index counts spatial coordinates. Default row major.
    ///
    /// ```
    /// use wgpu_pooling::{reference, AdaptiveMaxPool, DType, IndexType, StorageOrder, TensorView};
    ///
    /// let x = TensorView::new([1, 1, 2, 3], &[0u8, 9, 0, 0, 0, 0])?;
    /// let pool = AdaptiveMaxPool::new([1, 1]).index_order(StorageOrder::ColumnMajor);
    /// let plan = pool.plan(x.shape(), DType::U8, Some(IndexType::I64))?;
    /// assert_eq!(reference::max_pool_with_indices::<u8, i64>(&plan, x)?.1.data(), &[2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn index_order(mut self, order: StorageOrder) -> Self {
        self.index_order = order;
        self
    }

    /// The rule for NaN. Default [`NanPolicy::SeedFirst`], as OpenVINO computes it.
    ///
    /// ```
    /// use wgpu_pooling::{reference, AdaptiveMaxPool, DType, NanPolicy, TensorView};
    ///
    /// let x = TensorView::new([1, 1, 2], &[1.0f32, f32::NAN])?;
    /// let pool = AdaptiveMaxPool::new([1]);
    /// assert_eq!(reference::max_pool(&pool.plan(x.shape(), DType::F32, None)?, x.clone())?.data(), &[1.0]);
    /// let pool = pool.nan_policy(NanPolicy::PropagateLast);
    /// assert!(reference::max_pool(&pool.plan(x.shape(), DType::F32, None)?, x)?.data()[0].is_nan());
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn nan_policy(mut self, policy: NanPolicy) -> Self {
        self.nan_policy = policy;
        self
    }

    /// The plan for an X of this shape and type, with or without indices. `shape` is X's, in its layout.
    ///
    /// # Errors
    /// A [`PlanError`] with the numbers: a wrong length or a negative extent of `output_size`, more elements than the
    /// index type can address, and others.
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, DType, PlanError};
    ///
    /// let error = AdaptiveMaxPool::new([2, 2]).plan(&[1, 3, 5], DType::F32, None).unwrap_err();
    /// assert_eq!(error, PlanError::AttributeLength { attribute: "output_size", expected: 1, actual: 2 });
    /// ```
    pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<PoolPlan, PlanError> {
        let dimensions = Dimensions::of(shape, self.layout)?;
        let (expected, actual) = (dimensions.spatial.len(), self.output_size.len());
        if expected != actual {
            return Err(PlanError::AttributeLength { attribute: "output_size", expected, actual });
        }
        let axes = extents("output_size", &self.output_size)?
            .into_iter()
            .zip(&dimensions.spatial)
            .map(|(output, &input)| PoolAxis { input, output, window: AxisWindow::Adaptive })
            .collect();
        let options = IndexOptions { flatten: self.flatten, order: self.index_order, layout: self.index_layout };
        let space = options.on(&dimensions, &dimensions.spatial);
        space.check()?;
        PoolPlan {
            operator: "adaptive_max_pool",
            inputs: Vec::new(),
            outputs: Vec::new(),
            batch: dimensions.batch,
            channels: dimensions.channels,
            axes,
            reduction: Reduction::Max,
            nan_policy: self.nan_policy,
            // Adaptive windows are never empty, so the values for empty windows are never used.
            empty_value: EmptyValue::default(),
            indices: indices.map(|index_type| IndexPlan { index_type, space, empty: EmptyIndex::default() }),
            activation: Activation::default(),
            origin: Origin::default(),
            later_part: false,
        }
        .complete(dtype, self.layout)
    }
}

impl super::node::sealed::Sealed for AdaptiveMaxPool {}
impl Pooling for AdaptiveMaxPool {
    fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<PoolPlan, PlanError> {
        AdaptiveMaxPool::plan(self, shape, dtype, indices)
    }
}
