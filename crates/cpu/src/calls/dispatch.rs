//! From the types of a call to the kernels of these types.
//!
//! A generic function is compiled in every crate that calls it, by that crate's settings. These functions are not
//! generic, so the kernels are compiled once, with this crate, and are as fast in a program that is not optimised
//! itself. Slices come as the bytes of elements that the calls have checked against the plan.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{ExecuteError, IndexType, PoolPlan, UnpoolPlan};

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
    match plan.indices().map(|indices| indices.index_type) {
        Some(IndexType::I32) => work.run::<i32>(plan, context, x, y, indices.map(cast_slice_mut)),
        _ => work.run::<i64>(plan, context, x, y, indices.map(cast_slice_mut)),
    }
}

/// Computes an unpool.
pub(super) fn unpool(
    (work, plan): (&UnpoolWork, &UnpoolPlan),
    context: &Context<'_>,
    x: &[u8],
    indices: &[u8],
    y: &mut [u8],
) -> Result<(), ExecuteError> {
    macro_rules! run {
        ($word:ty, $index:ty) => {
            work.run::<$word, $index>(plan, context, cast_slice(x), cast_slice(indices), cast_slice_mut(y))
        };
    }
    match (plan.dtype().bytes(), plan.index_type()) {
        (1, IndexType::I32) => run!(u8, i32),
        (2, IndexType::I32) => run!(u16, i32),
        (4, IndexType::I32) => run!(u32, i32),
        (_, IndexType::I32) => run!(u64, i32),
        (1, IndexType::I64) => run!(u8, i64),
        (2, IndexType::I64) => run!(u16, i64),
        (4, IndexType::I64) => run!(u32, i64),
        (_, IndexType::I64) => run!(u64, i64),
    }
}
