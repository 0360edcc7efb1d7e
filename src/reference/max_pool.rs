//! MaxPool, GlobalMaxPool and AdaptiveMaxPool: for each window look at its elements in row-major order.

use super::{activation, check_shape, check_type, for_each, position, zeros};
use crate::attributes::{EmptyIndex, Layout, NanPolicy};
use crate::element::Element;
use crate::error::ExecuteError;
use crate::index::Index;
use crate::plan::{IndexPlan, PoolPlan};
use crate::tensor::{Tensor, TensorView};

/// What a window comes to.
enum Outcome<T> {
    /// An element won.
    Element { value: T, at: Vec<usize> },
    /// Nothing in the window is above the lowest value (`NanPolicy::SeedLowest`).
    Lowest,
    /// The window lies wholly in padding.
    Empty,
}

/// The maxima.
///
/// # Errors
/// [`ExecuteError::TypeMismatch`] or [`ExecuteError::ShapeMismatch`] if `x` is not what the plan was made for.
///
/// ```
/// use wgpu_pooling::{reference, DType, MaxPool, TensorView};
///
/// let x = TensorView::new([1, 1, 4], &[3u8, 1, 2, 9])?;
/// let plan = MaxPool::new([2]).strides([2]).plan(x.shape(), DType::U8, None)?;
/// assert_eq!(reference::max_pool(&plan, x)?.data(), &[3, 9]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub fn max_pool<T: Element>(plan: &PoolPlan, x: TensorView<'_, T>) -> Result<Tensor<T>, ExecuteError> {
    let mut y = zeros(&plan.output_shape)?;
    pool(plan, &x, |n, c, out, outcome| {
        y[output_position(plan, plan.layout, n, c, out)] = value(plan, outcome);
    })?;
    Ok(Tensor::from_parts(plan.output_shape.clone(), y))
}

/// The maxima and where they were found.
///
/// # Errors
/// As [`max_pool`], and [`ExecuteError::IndicesMismatch`] if the plan has no indices.
///
/// ```
/// use wgpu_pooling::{reference, DType, IndexType, MaxPool, TensorView};
///
/// let x = TensorView::new([1, 1, 4], &[3u8, 1, 2, 9])?;
/// let plan = MaxPool::new([2]).strides([2]).plan(x.shape(), DType::U8, Some(IndexType::I32))?;
/// let (_, indices) = reference::max_pool_with_indices::<u8, i32>(&plan, x)?;
/// assert_eq!(indices.data(), &[0, 3]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub fn max_pool_with_indices<T: Element, I: Index>(
    plan: &PoolPlan,
    x: TensorView<'_, T>,
) -> Result<(Tensor<T>, Tensor<I>), ExecuteError> {
    let Some(index_plan) = &plan.indices else {
        return Err(ExecuteError::IndicesMismatch { planned: "without", called: "with" });
    };
    check_type("indices", index_plan.index_type.name(), I::INDEX_TYPE.name())?;
    let strides = index_plan.space.strides();
    let mut y = zeros(&plan.output_shape)?;
    let mut indices = zeros(&plan.indices_shape)?;
    pool(plan, &x, |n, c, out, outcome| {
        let index = match &outcome {
            Outcome::Element { at, .. } => {
                let at: Vec<i64> = at.iter().map(|&coordinate| coordinate as i64).collect();
                plan.origin.flat(&strides, n, c, &at)
            }
            Outcome::Lowest => plan.origin.plane(&strides, n, c, &vec![0; out.len()]),
            Outcome::Empty => empty_index(plan, index_plan, n, c, out),
        };
        indices[output_position(plan, index_plan.space.layout, n, c, out)] = I::from_i64(index);
        y[output_position(plan, plan.layout, n, c, out)] = value(plan, outcome);
    })?;
    Ok((Tensor::from_parts(plan.output_shape.clone(), y), Tensor::from_parts(plan.indices_shape.clone(), indices)))
}

/// Visits every window: batch, channel, its coordinates in the output, and what it comes to.
fn pool<T: Element>(
    plan: &PoolPlan,
    x: &TensorView<'_, T>,
    mut emit: impl FnMut(usize, usize, &[usize], Outcome<T>),
) -> Result<(), ExecuteError> {
    check_type("x", plan.dtype.name(), T::DTYPE.name())?;
    check_shape("x", &plan.input_shape, x.shape())?;
    // Without outputs there is nothing to visit, however many batch items there are.
    if plan.output_shape.contains(&0) {
        return Ok(());
    }
    let inputs: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
    let outputs: Vec<usize> = plan.axes.iter().map(|axis| axis.output).collect();
    for n in 0..plan.batch {
        for c in 0..plan.channels {
            let element = |at: &[usize]| x.data()[position(plan.layout, plan.channels, &inputs, n, c, at)];
            for_each(&outputs, |out| emit(n, c, out, window(plan, out, element)));
        }
    }
    Ok(())
}

/// The maximum of one window, its elements taken in row-major order.
fn window<T: Element>(plan: &PoolPlan, out: &[usize], element: impl Fn(&[usize]) -> T) -> Outcome<T> {
    let taps: Vec<_> = plan.axes.iter().zip(out).map(|(axis, &o)| axis.taps(o)).collect();
    let counts: Vec<usize> = taps.iter().map(|taps| taps.count as usize).collect();
    if counts.contains(&0) {
        return Outcome::Empty;
    }
    let mut current: Option<(T, Vec<usize>)> = None;
    let mut at = vec![0; out.len()];
    for_each(&counts, |tap| {
        for axis in 0..tap.len() {
            at[axis] = (taps[axis].first + tap[axis] as i64 * taps[axis].step) as usize;
        }
        let v = element(&at);
        if replaces(plan, current.as_ref().map(|(best, _)| *best), v) {
            current = Some((v, at.clone()));
        }
    });
    match current {
        Some((value, at)) => Outcome::Element { value, at },
        None => Outcome::Lowest,
    }
}

/// Whether an element takes the place of the best of those before it.
fn replaces<T: Element>(plan: &PoolPlan, best: Option<T>, v: T) -> bool {
    match (plan.nan_policy, best) {
        (NanPolicy::SeedFirst, None) => !(plan.ignores_nan() && v.is_nan()),
        (NanPolicy::PropagateLast, None) => true,
        (NanPolicy::SeedFirst | NanPolicy::SeedLowest, Some(best)) => v.greater(best),
        (NanPolicy::PropagateLast, Some(best)) => v.greater(best) || v.is_nan(),
        (NanPolicy::SeedLowest, None) => v.greater(T::from_bits64(T::DTYPE.seed_bits())),
    }
}

/// A window whose elements are looked at in parts, each of which gives its own maximum and the position of that among the
/// plane's elements. The parts of a window may come in any order.
#[cfg(feature = "gpu")]
pub(crate) struct Parts<T> {
    best: Option<(T, u64)>,
}

#[cfg(feature = "gpu")]
impl<T: Element> Parts<T> {
    pub fn new() -> Self {
        Parts { best: None }
    }

    /// Takes up what the plan of a part gives. Taken in the order of their positions, two maxima are compared as two elements
    /// of the window are.
    pub fn take(&mut self, part: &PoolPlan, value: T, position: u64) {
        if !replaces(part, None, value) {
            return;
        }
        self.best = match self.best {
            Some((best, at)) if at < position => {
                Some(if replaces(part, Some(best), value) { (value, position) } else { (best, at) })
            }
            Some((best, at)) => Some(if replaces(part, Some(value), best) { (best, at) } else { (value, position) }),
            None => Some((value, position)),
        };
    }

    /// The element of Y, and the index if the plan of the whole has one, of the window in plane (n, c).
    pub fn finish(self, plan: &PoolPlan, n: usize, c: usize) -> (T, Option<i64>) {
        let extents: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
        let mut at = vec![0; extents.len()];
        if let Some((_, position)) = self.best {
            let mut rest = position;
            for (coordinate, &extent) in at.iter_mut().zip(&extents).rev() {
                *coordinate = (rest % extent as u64) as i64;
                rest /= extent as u64;
            }
        }
        let index = plan.indices.as_ref().map(|indices| indices.space.strides().flat(n, c, &at));
        let outcome = match self.best {
            Some((value, _)) => Outcome::Element { value, at: Vec::new() },
            None => Outcome::Lowest,
        };
        (value(plan, outcome), index)
    }
}

/// The element of Y that an outcome stands for.
fn value<T: Element>(plan: &PoolPlan, outcome: Outcome<T>) -> T {
    let maximum = match outcome {
        Outcome::Element { value, .. } => value,
        Outcome::Lowest if plan.ignores_nan() => T::from_bits64(T::DTYPE.nan_bits()),
        Outcome::Lowest => T::from_bits64(T::DTYPE.seed_bits()),
        Outcome::Empty => T::from_bits64(plan.empty_value.bits(T::DTYPE)),
    };
    activation::apply(plan.activation, maximum)
}

/// The index of a window wholly in padding.
fn empty_index(plan: &PoolPlan, indices: &IndexPlan, n: usize, c: usize, out: &[usize]) -> i64 {
    let strides = indices.space.strides();
    match indices.empty {
        EmptyIndex::MinusOne => -1,
        EmptyIndex::OrtUnderflow => plan.origin.plane(&strides, n, c, &vec![-1; out.len()]),
        EmptyIndex::UnitBase => plan.origin.plane(&strides, n, c, &vec![0; out.len()]),
        EmptyIndex::ClampedStart => {
            let first: Vec<i64> = plan.axes.iter().zip(out).map(|(axis, &o)| axis.taps(o).first).collect();
            plan.origin.flat(&strides, n, c, &first)
        }
    }
}

fn output_position(plan: &PoolPlan, layout: Layout, n: usize, c: usize, out: &[usize]) -> usize {
    let outputs: Vec<usize> = plan.axes.iter().map(|axis| axis.output).collect();
    position(layout, plan.channels, &outputs, n, c, out)
}
