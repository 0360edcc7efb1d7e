//! The trait of the operators that plan a pool.

use crate::element::{DType, IndexType};
use crate::error::PlanError;
use crate::plan::{IndexPlan, Plan, PoolPlan};

pub(crate) mod sealed {
    use super::{DType, IndexPlan, PlanError, PoolPlan};

    pub trait Sealed {
        /// The plan without indices, and the convention that indices of any type would have.
        fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError>;
    }
}

/// MaxPool, GlobalMaxPool, AdaptiveMaxPool, their minima, Dilate and Erode: operators that plan a pool from a shape.
/// Sealed.
///
/// ```
/// use wgpu_pooling::{AdaptiveMaxPool, DType, MaxPool, Pooling};
///
/// let pools: [&dyn Pooling; 2] = [&MaxPool::new([2, 2]), &AdaptiveMaxPool::new([3, 3])];
/// for pool in pools {
///     assert_eq!(pool.plan(&[1, 1, 4, 4], DType::F32, None)?.output_shape(), &[1, 1, 3, 3]);
/// }
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub trait Pooling: sealed::Sealed + Send + Sync {
    /// The plan for an X of this shape and type, with or without indices.
    ///
    /// # Errors
    /// A [`PlanError`] with the numbers that do not fit.
    ///
    /// ```
    /// use wgpu_pooling::{DType, GlobalMaxPool, PlanError, Pooling};
    ///
    /// fn output_shape(pool: &dyn Pooling, shape: &[usize]) -> Result<Vec<usize>, PlanError> {
    ///     Ok(pool.plan(shape, DType::F32, None)?.output_shape().to_vec())
    /// }
    /// assert_eq!(output_shape(&GlobalMaxPool::new(), &[2, 3, 5, 7])?, [2, 3, 1, 1]);
    /// # Ok::<(), PlanError>(())
    /// ```
    fn plan(&self, shape: &[usize], dtype: DType, indices: Option<IndexType>) -> Result<Plan, PlanError> {
        let (plan, rules) = self.plan_and_rules(shape, dtype)?;
        Ok(Plan::Pool(match indices {
            None => plan,
            Some(index_type) => plan.with_indices(IndexPlan { index_type, ..rules })?,
        }))
    }
}

impl<P: Pooling + ?Sized> Pooling for &P {}
impl<P: Pooling + ?Sized> sealed::Sealed for &P {
    fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError> {
        (**self).plan_and_rules(shape, dtype)
    }
}

impl<P: Pooling + ?Sized> Pooling for Box<P> {}
impl<P: Pooling + ?Sized> sealed::Sealed for Box<P> {
    fn plan_and_rules(&self, shape: &[usize], dtype: DType) -> Result<(PoolPlan, IndexPlan), PlanError> {
        (**self).plan_and_rules(shape, dtype)
    }
}
