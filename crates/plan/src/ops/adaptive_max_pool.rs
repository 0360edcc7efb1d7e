//! OpenVINO AdaptiveMaxPool-8.

use super::max_pool::MaxPool;
use super::node::extents;
use super::pool_options::{PoolOptions, pool_options};
use crate::attributes::Ints;
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::geometry::AxisWindow;
use crate::options::{EmptyIndex, EmptyValue, IndexFlattening, Layout, NanPolicy, StorageOrder};
use crate::plan::{Dimensions, IndexPlan, Plan, PoolAxis, PoolPlan};
use crate::pooling::{Pooling, sealed::Sealed};
use crate::request::{AsTensor, Request, ValuesOnly};
use crate::tensor::Tensor;

/// Max pooling to a given output size (OpenVINO AdaptiveMaxPool-8).
///
/// Window `i` of an axis covers the elements from `floor(i * input / output)` up to, not including,
/// `ceil((i + 1) * input / output)`, in exact integers. Indices count through each plane by default.
///
/// ```
/// use wgpu_pooling::{AdaptiveMaxPool, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 5], &[1.0f32, 4.0, 2.0, 3.0, 0.0])?;
/// let (y, indices) = AdaptiveMaxPool::new([2]).on(x).with_indices::<i32>().run_blocking(&Reference)?;
/// assert_eq!((y.data(), indices.data()), (&[4.0, 3.0][..], &[1, 3][..]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct AdaptiveMaxPool {
    output_size: Vec<i64>,
    options: PoolOptions,
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
    pub fn new(output_size: impl Ints) -> Self {
        AdaptiveMaxPool {
            output_size: output_size.as_ref().to_vec(),
            options: PoolOptions::new(IndexFlattening::Plane),
        }
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
    pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
        Pooling::plan(self, shape, dtype, indices)
    }

    /// This pool of `x`, to be run on a backend.
    ///
    /// ```
    /// use wgpu_pooling::{AdaptiveMaxPool, Reference, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// assert_eq!(AdaptiveMaxPool::new([2]).on(&x).run_blocking(&Reference)?.data(), &[3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn on<'a, X: AsTensor<'a>>(&self, x: X) -> Request<'a, Tensor<X::Element>, ValuesOnly> {
        Request::pool(self, x)
    }
}

pool_options! {
    AdaptiveMaxPool,
    line: "AdaptiveMaxPool::new([1])",
    grid: "AdaptiveMaxPool::new([1, 1])",
    flatten: "Default: its plane, as in OpenVINO AdaptiveMaxPool-8.",
    index_order: "Default row major."
}

impl Pooling for AdaptiveMaxPool {}
impl Sealed for AdaptiveMaxPool {
    fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError> {
        let dimensions = Dimensions::of(shape, self.options.layout)?;
        let (expected, actual) = (dimensions.spatial.len(), self.output_size.len());
        if expected != actual {
            return Err(PlanError::AttributeLength { attribute: "output_size", expected, actual });
        }
        let axes = extents("output_size", &self.output_size)?
            .into_iter()
            .zip(&dimensions.spatial)
            .map(|(output, &input)| PoolAxis { input, output, window: AxisWindow::adaptive(input, output) })
            .collect();
        let pool = MaxPool::with_options([], &self.options);
        pool.on_axes("adaptive_max_pool", (dimensions, axes), StorageOrder::default(), dtype)
    }
}
