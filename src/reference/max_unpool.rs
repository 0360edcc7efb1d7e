//! MaxUnpool: start from zeros, then put each element where its index says, in (n, c, spatial) order.

use super::{activation, check_shape, check_type, for_each, position, zeros};
use crate::attributes::OutOfBounds;
use crate::element::Element;
use crate::error::ExecuteError;
use crate::index::Index;
use crate::plan::UnpoolPlan;
use crate::tensor::{Tensor, TensorView};

/// The values of X at the positions that the indices name, zeros elsewhere.
///
/// # Errors
/// [`ExecuteError::TypeMismatch`] or [`ExecuteError::ShapeMismatch`] if a tensor is not what the plan was made for;
/// [`ExecuteError::IndexOutOfRange`] for indices outside the index space, unless they are to be skipped.
///
/// ```
/// use wgpu_pooling::{reference, DType, IndexType, MaxUnpool, TensorView};
///
/// let plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 2], DType::F32, IndexType::I32)?;
/// let x = TensorView::new([1, 1, 2], &[5.0f32, 6.0])?;
/// let indices = TensorView::new([1, 1, 2], &[1, 2])?;
/// assert_eq!(reference::max_unpool(&plan, x, indices)?.data(), &[0.0, 5.0, 6.0, 0.0]);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub fn max_unpool<T: Element, I: Index>(
    plan: &UnpoolPlan,
    x: TensorView<'_, T>,
    indices: TensorView<'_, I>,
) -> Result<Tensor<T>, ExecuteError> {
    check_type("x", plan.dtype.name(), T::DTYPE.name())?;
    check_type("indices", plan.index_type.name(), I::INDEX_TYPE.name())?;
    check_shape("x", &plan.input_shape, x.shape())?;
    check_shape("indices", &plan.indices_shape, indices.shape())?;
    let mut y = zeros(&plan.output_shape)?;
    // Without elements there is nothing to visit, however many batch items there are.
    if x.data().is_empty() {
        return Ok(Tensor::from_parts(plan.output_shape.clone(), y));
    }
    let mut first_offender: Option<(usize, i64)> = None;
    let mut offenders = 0;
    for n in 0..plan.batch {
        for c in 0..plan.channels {
            for_each(&plan.inputs, |at| {
                let from = position(plan.layout, plan.channels, &plan.inputs, n, c, at);
                let index_position = position(plan.space.layout, plan.channels, &plan.inputs, n, c, at);
                let index = indices.data()[index_position].to_i64();
                match plan.space.decode(index, n, c) {
                    Some((n, c, at)) => {
                        let to = position(plan.layout, plan.channels, &plan.outputs, n, c, &at);
                        y[to] = x.data()[from];
                    }
                    None if plan.skip_minus_one && index == -1 => {}
                    None => {
                        offenders += 1;
                        if first_offender.is_none_or(|(first, _)| index_position < first) {
                            first_offender = Some((index_position, index));
                        }
                    }
                }
            });
        }
    }
    if let (OutOfBounds::Error, Some((first, value))) = (plan.out_of_bounds, first_offender) {
        let unit = plan.space.unit();
        return Err(ExecuteError::IndexOutOfRange { position: first as u64, value, unit, count: offenders });
    }
    for element in &mut y {
        *element = activation::apply(plan.activation, *element);
    }
    Ok(Tensor::from_parts(plan.output_shape.clone(), y))
}
