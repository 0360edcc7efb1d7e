//! Plans on tensors whose element type is known at run time only.

use super::convert_indices::convert_indices;
use super::max_pool::{max_pool, max_pool_with_indices};
use super::max_unpool::max_unpool;
use crate::element::{DType, Element, Index, IndexType};
use crate::error::ExecuteError;
use crate::plan::{ConvertPlan, Plan, PoolPlan, UnpoolPlan};
use crate::tensor::TensorView;
use crate::untyped::{TensorMut, TensorRef, assign_both, check_operands};
use crate::with_element;

/// Computes a plan: reads the tensors of [`Plan::inputs`] and writes those of [`Plan::outputs`]. If there is an error,
/// nothing is written.
///
/// # Errors
/// [`PlanError::OperandCount`](crate::PlanError::OperandCount), [`ExecuteError::TypeMismatch`] and
/// [`ExecuteError::ShapeMismatch`] if the tensors are not the plan's; otherwise as [`max_pool`], [`max_unpool`] and
/// [`convert_indices`].
///
/// ```
/// use wgpu_pooling::{reference, DType, IndexType, MaxPool, Plan, Tensor, TensorMut, TensorRef};
///
/// let x = Tensor::new([1, 1, 4], vec![3u8, 1, 2, 9])?;
/// let plan: Plan = MaxPool::new([2]).strides([2]).plan(x.shape(), DType::U8, Some(IndexType::I64))?.into();
/// let mut bytes: Vec<Vec<u8>> = plan.outputs().iter().map(|output| vec![0; output.bytes() as usize]).collect();
/// let outputs = plan.outputs().iter().zip(&mut bytes);
/// let mut outputs =
///     outputs.map(|(spec, bytes)| TensorMut::new(spec.dtype, &spec.shape, bytes)).collect::<Result<Vec<_>, _>>()?;
/// reference::execute(&plan, &[TensorRef::from(&x)], &mut outputs)?;
/// assert_eq!(bytes[0], [3, 9]);
/// assert_eq!(bytes[1], [0i64.to_ne_bytes(), 3i64.to_ne_bytes()].concat());
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub fn execute(plan: &Plan, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
    check_operands(plan.operator(), (plan.inputs(), inputs), (plan.outputs(), outputs))?;
    let dtype = plan.inputs()[0].dtype;
    match plan {
        Plan::Pool(plan) => with_element!(dtype, T => pool::<T>(plan, inputs, outputs)),
        Plan::Unpool(plan) => match plan.index_type() {
            IndexType::I32 => with_element!(dtype, T => unpool::<T, i32>(plan, inputs, outputs)),
            IndexType::I64 => with_element!(dtype, T => unpool::<T, i64>(plan, inputs, outputs)),
        },
        Plan::Convert(plan) => match (dtype, plan.outputs[0].dtype) {
            (DType::I32, DType::I32) => convert::<i32, i32>(plan, inputs, outputs),
            (DType::I32, _) => convert::<i32, i64>(plan, inputs, outputs),
            (_, DType::I32) => convert::<i64, i32>(plan, inputs, outputs),
            _ => convert::<i64, i64>(plan, inputs, outputs),
        },
    }
}

fn pool<T: Element>(
    plan: &PoolPlan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
) -> Result<(), ExecuteError> {
    let elements = inputs[0].elements::<T>()?;
    let x = TensorView::new(inputs[0].shape(), &elements)?;
    match plan.indices().map(|indices| indices.index_type) {
        None => outputs[0].assign(&max_pool(plan, x)?),
        Some(IndexType::I32) => assign_both(outputs, &max_pool_with_indices::<T, i32>(plan, x)?),
        Some(IndexType::I64) => assign_both(outputs, &max_pool_with_indices::<T, i64>(plan, x)?),
    }
    Ok(())
}

fn unpool<T: Element, I: Index>(
    plan: &UnpoolPlan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
) -> Result<(), ExecuteError> {
    let (x, indices) = (inputs[0].elements::<T>()?, inputs[1].elements::<I>()?);
    let (x, indices) = (TensorView::new(inputs[0].shape(), &x)?, TensorView::new(inputs[1].shape(), &indices)?);
    outputs[0].assign(&max_unpool(plan, x, indices)?);
    Ok(())
}

fn convert<F: Index, T: Index>(
    plan: &ConvertPlan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
) -> Result<(), ExecuteError> {
    let elements = inputs[0].elements::<F>()?;
    outputs[0].assign(&convert_indices::<F, T>(plan, TensorView::new(inputs[0].shape(), &elements)?)?);
    Ok(())
}
