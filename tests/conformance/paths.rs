//! The ways to compute a plan: one interface, so that every check is written once.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wgpu_pooling::{
    Element, ExecuteError, Index, IndexType, Plan, PoolPlan, Tensor, TensorView, UnpoolPlan, reference,
};

use crate::tensors::RawTensor;
use wgpu_pooling::with_element;

/// What came out.
#[derive(Debug)]
pub struct Output {
    pub y: RawTensor,
    /// Present if a pool was asked for them.
    pub indices: Option<RawTensor>,
}

/// Why nothing came out.
#[derive(Debug)]
pub enum Failure {
    /// The library's own error.
    Refused(ExecuteError),
    /// The library panicked, which it never may.
    Panicked(String),
}

/// A computation's result.
pub type Outcome = Result<Output, Failure>;

/// Calls the library; a panic becomes a [`Failure`].
pub fn guarded<R>(call: impl FnOnce() -> Result<R, ExecuteError>) -> Result<R, Failure> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.map_err(Failure::Refused),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            Err(Failure::Panicked(text.unwrap_or("a payload that is not text").to_owned()))
        }
    }
}

/// A way to compute.
pub trait Path {
    fn max_pool<T: Element>(&self, plan: &PoolPlan, x: TensorView<'_, T>) -> Result<Tensor<T>, ExecuteError>;

    fn max_pool_with_indices<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        x: TensorView<'_, T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError>;

    fn max_unpool<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: TensorView<'_, T>,
        indices: TensorView<'_, I>,
    ) -> Result<Tensor<T>, ExecuteError>;
}

/// The reference: plain loops on the CPU.
pub struct Reference;

impl Path for Reference {
    fn max_pool<T: Element>(&self, plan: &PoolPlan, x: TensorView<'_, T>) -> Result<Tensor<T>, ExecuteError> {
        reference::max_pool(plan, x)
    }

    fn max_pool_with_indices<T: Element, I: Index>(
        &self,
        plan: &PoolPlan,
        x: TensorView<'_, T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        reference::max_pool_with_indices(plan, x)
    }

    fn max_unpool<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        x: TensorView<'_, T>,
        indices: TensorView<'_, I>,
    ) -> Result<Tensor<T>, ExecuteError> {
        reference::max_unpool(plan, x, indices)
    }
}

/// Computes a plan on a path. `indices` are those that an unpool reads.
pub fn compute(path: &impl Path, plan: &Plan, x: &RawTensor, indices: Option<&RawTensor>) -> Outcome {
    guarded(|| with_element!(x.dtype, T => typed::<T>(path, plan, x, indices)))
}

fn typed<T: Element>(
    path: &impl Path,
    plan: &Plan,
    x: &RawTensor,
    indices: Option<&RawTensor>,
) -> Result<Output, ExecuteError> {
    let elements: Vec<T> = x.elements();
    let view = TensorView::new(&x.shape, &elements)?;
    match plan {
        Plan::Pool(plan) => match plan.indices().map(|indices| indices.index_type) {
            None => Ok(Output { y: RawTensor::from_tensor(&path.max_pool(plan, view)?), indices: None }),
            Some(IndexType::I32) => pool_with_indices::<T, i32>(path, plan, view),
            Some(IndexType::I64) => pool_with_indices::<T, i64>(path, plan, view),
        },
        Plan::Unpool(plan) => {
            let indices = indices.expect("a case of MaxUnpool has indices; this is checked when its plan is made");
            match plan.index_type() {
                IndexType::I32 => unpool::<T, i32>(path, plan, view, indices),
                IndexType::I64 => unpool::<T, i64>(path, plan, view, indices),
            }
        }
        Plan::Convert(_) => unreachable!("no case converts indices"),
    }
}

fn pool_with_indices<T: Element, I: Index + Element>(
    path: &impl Path,
    plan: &PoolPlan,
    x: TensorView<'_, T>,
) -> Result<Output, ExecuteError> {
    let (y, indices) = path.max_pool_with_indices::<T, I>(plan, x)?;
    Ok(Output { y: RawTensor::from_tensor(&y), indices: Some(RawTensor::from_tensor(&indices)) })
}

fn unpool<T: Element, I: Index + Element>(
    path: &impl Path,
    plan: &UnpoolPlan,
    x: TensorView<'_, T>,
    indices: &RawTensor,
) -> Result<Output, ExecuteError> {
    let elements: Vec<I> = indices.elements();
    let y = path.max_unpool(plan, x, TensorView::new(&indices.shape, &elements)?)?;
    Ok(Output { y: RawTensor::from_tensor(&y), indices: None })
}
