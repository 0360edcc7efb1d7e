//! The reference as a backend.

use std::sync::Arc;

use super::max_pool::{max_pool, max_pool_with_indices};
use super::max_unpool::max_unpool;
use crate::backend::{Backend, Later, Run};
use crate::element::{Element, Index, IndexType};
use crate::error::ExecuteError;
use crate::plan::Plan;
use crate::tensor::{Tensor, TensorView};
use crate::untyped::{TensorMut, TensorRef, check_operands};
use crate::with_element;

/// The operators as plain loops, which define what a plan means: the oracle that every backend is compared with.
/// Nothing in it is optimised.
///
/// ```
/// use wgpu_pooling::{MaxPool, Reference, Tensor};
///
/// let x = Tensor::new([1, 1, 4], vec![3u8, 1, 2, 9])?;
/// let (y, indices) = MaxPool::new([2]).strides([2]).on(&x).with_indices::<i64>().run_blocking(&Reference)?;
/// assert_eq!((y.data(), indices.data()), (&[3, 9][..], &[0, 3][..]));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reference;

/// A plan of the reference, which needs no preparation.
struct PreparedReference {
    plan: Plan,
}

impl Backend for Reference {
    fn name(&self) -> String {
        "reference".to_owned()
    }

    fn prepare(&self, plan: Plan) -> Later<'_, Arc<dyn Run>> {
        Box::pin(async move { Ok(Arc::new(PreparedReference { plan }) as Arc<dyn Run>) })
    }

    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> Later<'a, ()> {
        Box::pin(async move { compute(plan, inputs, outputs) })
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        compute(plan, inputs, outputs)
    }
}

impl Run for PreparedReference {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn kernel(&self) -> String {
        "reference".to_owned()
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> Later<'a, ()> {
        Box::pin(async move { compute(&self.plan, inputs, outputs) })
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        compute(&self.plan, inputs, outputs)
    }
}

/// Computes a plan. If there is an error, nothing is written.
fn compute(plan: &Plan, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
    check_operands(plan, inputs, outputs)?;
    let dtype = plan.inputs()[0].dtype;
    match plan.index_type() {
        Some(IndexType::I32) => with_element!(dtype, T => compute_as::<T, i32>(plan, inputs, outputs)),
        // The type of indices does not matter to a pool that has none.
        Some(IndexType::I64) | None => with_element!(dtype, T => compute_as::<T, i64>(plan, inputs, outputs)),
    }
}

fn put<T: Element>(output: &mut TensorMut<'_>, tensor: &Tensor<T>) -> Result<(), ExecuteError> {
    output.put(bytemuck::cast_slice(tensor.data()))
}

fn compute_as<T: Element, I: Index>(
    plan: &Plan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
) -> Result<(), ExecuteError> {
    let x = inputs[0].elements::<T>()?;
    let x = TensorView::new(inputs[0].shape(), &x)?;
    match plan {
        Plan::Pool(plan) if plan.indices.is_none() => put(&mut outputs[0], &max_pool(plan, x)?),
        Plan::Pool(plan) => {
            let (y, indices) = max_pool_with_indices::<T, I>(plan, x)?;
            put(&mut outputs[0], &y)?;
            put(&mut outputs[1], &indices)
        }
        Plan::Unpool(plan) => {
            let indices = inputs[1].elements::<I>()?;
            let indices = TensorView::new(inputs[1].shape(), &indices)?;
            put(&mut outputs[0], &max_unpool(plan, x, indices)?)
        }
    }
}
