//! Passes the bytes of a call's tensors, which were checked against the plan, to the kernels.

use wgpu_pooling_plan::{ExecuteError, IndexType, PoolPlan, UnpoolPlan};

use crate::kernels::indices::{Indices, IndicesMut};
use crate::kernels::parts::Context;
use crate::kernels::pool::PoolWork;
use crate::kernels::unpool::UnpoolWork;

/// Computes a pool.
pub(super) fn pool(
    (work, plan): (&PoolWork, &PoolPlan),
    context: &Context<'_>,
    x: &[u8],
    y: &mut [u8],
    indices: Option<&mut [u8]>,
) -> Result<(), ExecuteError> {
    let index_type = plan.indices().map_or(IndexType::I64, |indices| indices.index_type);
    work.run(plan, context, x, y, indices.map(|indices| IndicesMut::new(indices, index_type)))
}

/// Computes an unpool.
pub(super) fn unpool(
    (work, plan): (&UnpoolWork, &UnpoolPlan),
    context: &Context<'_>,
    x: &[u8],
    indices: &[u8],
    y: &mut [u8],
) -> Result<(), ExecuteError> {
    work.run(plan, context, x, Indices::new(indices, plan.index_type()), y)
}
