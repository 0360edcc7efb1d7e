//! MaxUnpool: start from zeros, then write each element to the position that its index names, in (n, c, spatial) order.

use crate::element::Element;
use crate::error::ExecuteError;
use crate::indices::Indices;
use crate::plan::{IndexTarget, UnpoolPlan};
use crate::tensor::{Tensor, TensorView, for_each_element, position, zeros};

/// The values of X at the positions that the indices name, zeros elsewhere.
pub(super) fn max_unpool<T: Element>(
    plan: &UnpoolPlan,
    x: TensorView<'_, T>,
    indices: Indices<'_>,
) -> Result<Tensor<T>, ExecuteError> {
    let mut y = zeros(plan.output_shape())?;
    let mut first_offender: Option<(usize, i64)> = None;
    let mut offenders = 0;
    let mut target = vec![0; plan.x_extents.len()];
    for_each_element(plan.batch, plan.channels, &plan.x_extents, &mut |n, c, at| {
        let from = position(plan.layout(), plan.channels, &plan.x_extents, n, c, at);
        let index_position = position(plan.space.layout, plan.channels, &plan.x_extents, n, c, at);
        let index = indices.get(index_position);
        match plan.index_target(index, n, c, at, &mut target) {
            IndexTarget::Element(n, c) => {
                let to = position(plan.layout(), plan.channels, &plan.y_extents, n, c, &target);
                y[to] = x.data()[from];
            }
            IndexTarget::Nothing => {}
            IndexTarget::OutOfRange | IndexTarget::Outside => {
                offenders += 1;
                if first_offender.is_none_or(|(first, _)| index_position < first) {
                    first_offender = Some((index_position, index));
                }
            }
        }
    });
    if let Some((first, value)) = first_offender.filter(|_| plan.refuses_bad_indices()) {
        return Err(plan.bad_index_error(first as u64, value, offenders));
    }
    plan.activation.apply_all(&mut y);
    Ok(Tensor::from_parts(plan.output_shape().to_vec(), y))
}
