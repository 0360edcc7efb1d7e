//! Minima: the pools of maxima with the order of elements reversed.

use super::adaptive_max_pool::AdaptiveMaxPool;
use super::max_pool::{GlobalMaxPool, MaxPool};
use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::plan::{IndexPlan, Plan, PoolPlan};
use crate::pooling::{Pooling, sealed::Sealed};
use crate::request::{AsTensor, Request, ValuesOnly};
use crate::tensor::Tensor;

/// The minimum over the windows of a pool, with the position of each minimum on request: [`MinPool`],
/// [`GlobalMinPool`] and [`AdaptiveMinPool`].
///
/// Windows, options and the conventions of indices are those of the pool of maxima. The order of elements is reversed:
/// of equal elements the first wins, -0 equals +0, and NaN is ranked by the pool's [`NanPolicy`](crate::NanPolicy) as
/// among maxima. [`EmptyValue`](crate::EmptyValue) and [`NanPolicy::SeedLowest`](crate::NanPolicy::SeedLowest) are
/// mirrored, but for [`EmptyValue::Nan`](crate::EmptyValue::Nan): an empty window gives +inf, integers their maximum.
/// [`MaxUnpool`](crate::MaxUnpool) takes the
/// indices.
///
/// ```
/// use wgpu_pooling::{MaxPool, MinPool, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 2, 4], &[1.0f32, 5.0, 2.0, 0.0, 4.0, 3.0, 7.0, 6.0])?;
/// let pool = MinPool::of(MaxPool::new([2, 2]).strides([2, 2]));
/// let (y, indices) = pool.on(x).with_indices::<i64>().run_blocking(&Reference)?;
/// assert_eq!((y.data(), indices.data()), (&[1.0, 0.0][..], &[0, 3][..]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct Minimum<P>(P);

/// The minimum over sliding windows, those of a [`MaxPool`].
///
/// ```
/// use wgpu_pooling::{MaxPool, MinPool, Reference, TensorView};
///
/// // The erosion of a row by a window of three.
/// let x = TensorView::new(&[1, 1, 6], &[9u8, 9, 9, 2, 9, 9])?;
/// let y = MinPool::of(MaxPool::new([3]).pads([1, 1])).on(x).run_blocking(&Reference)?;
/// assert_eq!(y.data(), &[9, 9, 2, 2, 2, 9]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub type MinPool = Minimum<MaxPool>;

/// The minimum of each plane, as a [`GlobalMaxPool`] has the maximum.
///
/// ```
/// use wgpu_pooling::{GlobalMaxPool, GlobalMinPool, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 2, 3], &[1u8, 9, 2, 4, 3, 8])?;
/// assert_eq!(GlobalMinPool::of(GlobalMaxPool::new()).on(x).run_blocking(&Reference)?.data(), &[1, 3]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub type GlobalMinPool = Minimum<GlobalMaxPool>;

/// The minimum over the windows of an [`AdaptiveMaxPool`].
///
/// ```
/// use wgpu_pooling::{AdaptiveMaxPool, AdaptiveMinPool, Reference, TensorView};
///
/// let x = TensorView::new(&[1, 1, 5], &[3i8, -1, 4, 1, 5])?;
/// let y = AdaptiveMinPool::of(AdaptiveMaxPool::new([2])).on(x).run_blocking(&Reference)?;
/// assert_eq!(y.data(), &[-1, 1]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub type AdaptiveMinPool = Minimum<AdaptiveMaxPool>;

impl<P: Pooling> Minimum<P> {
    /// The minimum over the windows of this pool.
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, MinPool};
    ///
    /// let plan = MinPool::of(MaxPool::new([2, 3])).plan(&[1, 1, 5, 5], DType::F32, None)?;
    /// assert_eq!((plan.operator(), plan.output_shape()), ("min_pool", &[1, 1, 4, 3][..]));
    /// # Ok::<(), wgpu_pooling::PlanError>(())
    /// ```
    pub fn of(pool: P) -> Self {
        Minimum(pool)
    }

    /// The plan for an X of this shape and type, with or without indices.
    ///
    /// # Errors
    /// As the pool of maxima, for example [`MaxPool::plan`].
    ///
    /// ```
    /// use wgpu_pooling::{DType, MaxPool, MinPool, PlanError};
    ///
    /// let error = MinPool::of(MaxPool::new([2])).plan(&[1, 3, 0], DType::F32, None).unwrap_err();
    /// assert_eq!(error, PlanError::ZeroExtent { axis: 0, shape: vec![1, 3, 0] });
    /// ```
    pub fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
        Pooling::plan(self, shape, dtype, indices)
    }

    /// This pool of `x`, to be run on a backend.
    ///
    /// ```
    /// use wgpu_pooling::{MaxPool, MinPool, Reference, Tensor};
    /// let x = Tensor::new([1, 1, 3], vec![3u8, 1, 2])?;
    /// assert_eq!(MinPool::of(MaxPool::new([2])).on(&x).run_blocking(&Reference)?.data(), &[1, 1]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn on<'a, X: AsTensor<'a>>(&self, x: X) -> Request<'a, Tensor<X::Element>, ValuesOnly> {
        Request::pool(self, x)
    }
}

impl<P: Pooling> Pooling for Minimum<P> {}
impl<P: Pooling> Sealed for Minimum<P> {
    fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError> {
        let (plan, rules) = self.0.plan_and_rules(shape, dtype)?;
        let operator = match plan.operator {
            "global_max_pool" => "global_min_pool",
            "adaptive_max_pool" => "adaptive_min_pool",
            _ => "min_pool",
        };
        Ok((PoolPlan { operator, ..plan.of_minima() }, rules))
    }
}
