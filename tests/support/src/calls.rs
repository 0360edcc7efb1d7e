//! Typed calls of a plan that is made ready, and of a plan on the reference, for tests that have the plan in hand and
//! not the operator.

use wgpu_pooling::{
    AsTensor, Backend, Element, ExecuteError, Index, Plan, PreparedPlan, Reference, Tensor, TensorMut, TensorView,
};

/// The maxima.
pub fn max_pool<'a, T: Element>(
    run: &dyn PreparedPlan,
    x: impl AsTensor<'a, Element = T>,
) -> Result<Tensor<T>, ExecuteError> {
    (&run).call_blocking(&[x.tensor()?])
}

/// The maxima and their indices.
pub fn max_pool_with_indices<'a, T: Element, I: Index>(
    run: &dyn PreparedPlan,
    x: impl AsTensor<'a, Element = T>,
) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
    (&run).call_blocking(&[x.tensor()?])
}

/// The values at the positions that the indices name.
pub fn max_unpool<'a, T: Element>(
    run: &dyn PreparedPlan,
    x: impl AsTensor<'a, Element = T>,
    indices: impl AsTensor<'a>,
) -> Result<Tensor<T>, ExecuteError> {
    (&run).call_blocking(&[x.tensor()?, indices.tensor()?])
}

/// The slice as the output of this number.
fn output<'a, T: Element>(
    run: &'a dyn PreparedPlan,
    number: usize,
    slice: &'a mut [T],
) -> Result<TensorMut<'a>, ExecuteError> {
    let spec = &run.plan().outputs()[number];
    TensorView::new(&spec.shape, &*slice)?;
    Ok(TensorMut::new(T::DTYPE, &spec.shape, bytemuck::cast_slice_mut(slice))?)
}

/// The maxima, into a slice.
pub fn max_pool_into<'a, T: Element>(
    run: &dyn PreparedPlan,
    x: impl AsTensor<'a, Element = T>,
    y: &mut [T],
) -> Result<(), ExecuteError> {
    run.run_blocking(&[x.tensor()?], &mut [output(run, 0, y)?])
}

/// The maxima and their indices, into slices.
pub fn max_pool_with_indices_into<'a, T: Element, I: Index>(
    run: &dyn PreparedPlan,
    x: impl AsTensor<'a, Element = T>,
    y: &mut [T],
    indices: &mut [I],
) -> Result<(), ExecuteError> {
    run.run_blocking(&[x.tensor()?], &mut [output(run, 0, y)?, output(run, 1, indices)?])
}

/// The values at the positions that the indices name, into a slice.
pub fn max_unpool_into<'a, T: Element>(
    run: &dyn PreparedPlan,
    x: impl AsTensor<'a, Element = T>,
    indices: impl AsTensor<'a>,
    y: &mut [T],
) -> Result<(), ExecuteError> {
    run.run_blocking(&[x.tensor()?, indices.tensor()?], &mut [output(run, 0, y)?])
}

/// The same calls of a plan on the reference.
pub mod reference {
    use super::*;

    fn prepared(plan: Plan) -> Result<std::sync::Arc<dyn PreparedPlan>, ExecuteError> {
        pollster::block_on(Reference.prepare(plan))
    }

    /// The maxima.
    pub fn max_pool<'a, T: Element>(plan: &Plan, x: impl AsTensor<'a, Element = T>) -> Result<Tensor<T>, ExecuteError> {
        super::max_pool(&prepared(plan.clone())?, x)
    }

    /// The maxima and their indices.
    pub fn max_pool_with_indices<'a, T: Element, I: Index>(
        plan: &Plan,
        x: impl AsTensor<'a, Element = T>,
    ) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
        super::max_pool_with_indices(&prepared(plan.clone())?, x)
    }

    /// The values at the positions that the indices name.
    pub fn max_unpool<'a, T: Element>(
        plan: &Plan,
        x: impl AsTensor<'a, Element = T>,
        indices: impl AsTensor<'a>,
    ) -> Result<Tensor<T>, ExecuteError> {
        super::max_unpool(&prepared(plan.clone())?, x, indices)
    }
}
