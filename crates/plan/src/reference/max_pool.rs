//! MaxPool, GlobalMaxPool and AdaptiveMaxPool: reduces the elements of each window in row-major order.

use crate::element::Element;
use crate::error::{ExecuteError, PlanError};
use crate::options::Layout;
use crate::plan::PoolPlan;
use crate::tensor::{Tensor, TensorView, for_each, for_each_element, position, zeros};

/// The outcome of a window.
enum Outcome<T> {
    /// An element won.
    Element { value: T, at: Vec<usize> },
    /// Nothing in the window is above the lowest value (`NanPolicy::SeedLowest`).
    Lowest,
    /// The window has no element.
    Empty,
}

/// The maxima.
pub(super) fn max_pool<T: Element>(plan: &PoolPlan, x: TensorView<'_, T>) -> Result<Tensor<T>, ExecuteError> {
    let mut y = zeros(plan.output_shape())?;
    pool(plan, &x, &mut |n, c, out, outcome| {
        y[output_position(plan, plan.layout(), n, c, out)] = value(plan, outcome);
    });
    Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
}

/// The maxima and their indices.
pub(crate) fn max_pool_with_indices<T: Element>(
    plan: &PoolPlan,
    x: TensorView<'_, T>,
) -> Result<(Tensor<T>, Tensor<i64>), ExecuteError> {
    let Some(index_plan) = &plan.indices else {
        let (operator, what, actual) = (plan.operator, "outputs", plan.outputs.len());
        return Err(PlanError::OperandCount { operator, what, expected: "2", actual }.into());
    };
    let strides = index_plan.space.strides();
    let mut y = zeros(plan.output_shape())?;
    let mut indices = zeros(&plan.outputs[1].shape)?;
    pool(plan, &x, &mut |n, c, out, outcome| {
        let index = match &outcome {
            Outcome::Element { at, .. } => {
                let at: Vec<i64> = at.iter().map(|&coordinate| coordinate as i64).collect();
                plan.origin.flat(&strides, n, c, &at)
            }
            Outcome::Lowest => plan.origin.flat_in_plane(&strides, n, c, &vec![0; out.len()]),
            Outcome::Empty => plan.empty_index(index_plan, n, c, out),
        };
        indices[output_position(plan, index_plan.space.layout, n, c, out)] = index;
        y[output_position(plan, plan.layout(), n, c, out)] = value(plan, outcome);
    });
    Ok((
        Tensor::from_parts(plan.output_shape().to_vec(), y),
        Tensor::from_parts(plan.outputs[1].shape.clone(), indices),
    ))
}

/// What is done with a window: batch, channel, its coordinates in the output, and its outcome.
type Emit<'e, T> = dyn FnMut(usize, usize, &[usize], Outcome<T>) + 'e;

/// Visits every window.
fn pool<T: Element>(plan: &PoolPlan, x: &TensorView<'_, T>, emit: &mut Emit<'_, T>) {
    let [inputs, outputs] = extents(plan);
    for_each_element(plan.batch, plan.channels, &outputs, &mut |n, c, out| {
        let element = |at: &[usize]| x.data()[position(plan.layout(), plan.channels, &inputs, n, c, at)];
        emit(n, c, out, window(plan, out, element));
    });
}

/// The spatial extents of X and Y.
fn extents(plan: &PoolPlan) -> [Vec<usize>; 2] {
    [plan.axes.iter().map(|axis| axis.input).collect(), plan.axes.iter().map(|axis| axis.output).collect()]
}

/// The maximum of one window, its elements taken in row-major order.
fn window<T: Element>(plan: &PoolPlan, out: &[usize], element: impl Fn(&[usize]) -> T) -> Outcome<T> {
    let mut current: Option<(T, Vec<usize>)> = None;
    let any = for_each_tap(plan, out, &mut |at| {
        let v = element(at);
        if plan.replaces(current.as_ref().map(|(best, _)| *best), v) {
            current = Some((v, at.to_vec()));
        }
    });
    if !any {
        return Outcome::Empty;
    }
    match current {
        Some((value, at)) => Outcome::Element { value, at },
        None if plan.ignores_nan() => Outcome::Empty,
        None => Outcome::Lowest,
    }
}

/// Visits the taps of one window that lie in X, in row-major order, with their coordinates. `false` if there are none.
fn for_each_tap(plan: &PoolPlan, out: &[usize], visit: &mut dyn FnMut(&[usize])) -> bool {
    let taps: Vec<_> = plan.axes.iter().zip(out).map(|(axis, &o)| axis.taps(o)).collect();
    let counts: Vec<usize> = taps.iter().map(|taps| taps.count as usize).collect();
    let mut at = vec![0; out.len()];
    for_each(&counts, &mut |tap| {
        for axis in 0..tap.len() {
            at[axis] = (taps[axis].first + tap[axis] as i64 * taps[axis].step) as usize;
        }
        visit(&at);
    });
    !counts.contains(&0)
}

/// The element of Y of an outcome.
fn value<T: Element>(plan: &PoolPlan, outcome: Outcome<T>) -> T {
    let maximum = match outcome {
        Outcome::Element { value, .. } => value,
        Outcome::Lowest => plan.seed(),
        Outcome::Empty => plan.empty(),
    };
    plan.activation.apply(maximum)
}

fn output_position(plan: &PoolPlan, layout: Layout, n: usize, c: usize, out: &[usize]) -> usize {
    let [_, outputs] = extents(plan);
    position(layout, plan.channels, &outputs, n, c, out)
}
