//! The reference as a backend.

use std::future::ready;
use std::sync::Arc;

use super::max_pool::{max_pool, max_pool_with_indices};
use super::max_unpool::max_unpool;
use crate::backend::{Backend, BoxFuture, PreparedPlan, at_once, step_by_step};
use crate::difference::subtract;
use crate::element::{DType, Element, IndexType};
use crate::error::ExecuteError;
use crate::indices::Indices;
use crate::plan::{Plan, UnpoolPlan};
use crate::tensor::{Tensor, TensorView, index_bytes, zeros};
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

    fn prepare(&self, plan: Plan) -> BoxFuture<'_, Arc<dyn PreparedPlan>> {
        Box::pin(async move { Ok(Arc::new(PreparedReference { plan }) as Arc<dyn PreparedPlan>) })
    }

    fn run<'a>(
        &'a self,
        plan: &'a Plan,
        inputs: &'a [TensorRef<'a>],
        outputs: &'a mut [TensorMut<'_>],
    ) -> BoxFuture<'a, ()> {
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

impl PreparedPlan for PreparedReference {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn kernel(&self) -> String {
        "reference".to_owned()
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> BoxFuture<'a, ()> {
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
    with_element!(plan.inputs()[0].dtype, T => compute_as::<T>(plan, inputs, outputs))
}

fn put<T: Element>(output: &mut TensorMut<'_>, tensor: &Tensor<T>) -> Result<(), ExecuteError> {
    output.put(bytemuck::cast_slice(tensor.data()))
}

fn compute_as<T: Element>(
    plan: &Plan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
) -> Result<(), ExecuteError> {
    let x = inputs[0].elements::<T>()?;
    let x = TensorView::new(inputs[0].shape(), &x)?;
    match plan {
        Plan::Pool(plan) if plan.indices.is_none() => put(&mut outputs[0], &max_pool(plan, x)?),
        Plan::Pool(plan) => {
            let (y, indices) = max_pool_with_indices(plan, x)?;
            let index_type = plan.indices.as_ref().map_or(IndexType::I64, |indices| indices.index_type);
            let indices = index_bytes(indices.data(), index_type)?;
            put(&mut outputs[0], &y)?;
            outputs[1].put(&indices)
        }
        Plan::Unpool(plan) => put(&mut outputs[0], &max_unpool_of(plan, x, &inputs[1])?),
        Plan::Composition(plan) => at_once(step_by_step(plan, inputs, outputs, plan, |plan, step, inputs, outputs| {
            Box::pin(ready(compute(&plan.steps[step].plan, inputs, outputs)))
        })),
        Plan::Difference(_) => {
            let mut y = zeros::<T>(x.shape())?;
            subtract(&mut y, x.data(), &inputs[1].elements()?);
            outputs[0].put(bytemuck::cast_slice(&y))
        }
    }
}

fn max_unpool_of<T: Element>(
    plan: &UnpoolPlan,
    x: TensorView<'_, T>,
    indices: &TensorRef<'_>,
) -> Result<Tensor<T>, ExecuteError> {
    match indices.dtype() {
        DType::I32 => max_unpool(plan, x, Indices::I32(&indices.elements()?)),
        _ => max_unpool(plan, x, Indices::I64(&indices.elements()?)),
    }
}
