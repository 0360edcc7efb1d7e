//! Index conversion: decode by the first convention, encode by the second.

use crate::element::Index;
use crate::error::ExecuteError;
use crate::plan::ConvertPlan;
use crate::tensor::{Tensor, TensorView, for_each, position, zeros};

/// The indices in the second convention.
pub(super) fn convert_indices<F: Index, T: Index>(
    plan: &ConvertPlan,
    indices: TensorView<'_, F>,
) -> Result<Tensor<T>, ExecuteError> {
    plan.inputs[0].check_host("indices", &indices)?;
    plan.outputs[0].check_dtype("converted", T::DTYPE)?;
    let mut converted = zeros(plan.output_shape())?;
    // Without elements there is nothing to visit, however many batch items there are.
    if indices.data().is_empty() {
        return Ok(Tensor::from_parts(plan.output_shape().to_vec(), converted));
    }
    let mut first_offender: Option<(usize, i64)> = None;
    let mut offenders = 0;
    for n in 0..plan.from.batch {
        for c in 0..plan.from.channels {
            for_each(&plan.extents, |at| {
                let from = position(plan.from.layout, plan.from.channels, &plan.extents, n, c, at);
                let to = position(plan.to.layout, plan.to.channels, &plan.extents, n, c, at);
                let index = indices.data()[from].to_i64();
                let target = plan.from.decode(index, n, c).filter(|&(target_n, target_c, _)| {
                    let names_n = plan.to.flatten.counts_batch();
                    let names_c = plan.to.flatten.counts_channels();
                    (names_n || target_n == n) && (names_c || target_c == c)
                });
                let value = match target {
                    Some((n, c, at)) => {
                        let at: Vec<i64> = at.iter().map(|&coordinate| coordinate as i64).collect();
                        plan.to.encode(n, c, &at)
                    }
                    None => {
                        if index != -1 {
                            offenders += 1;
                            if first_offender.is_none_or(|(first, _)| from < first) {
                                first_offender = Some((from, index));
                            }
                        }
                        -1
                    }
                };
                converted[to] = T::from_i64(value);
            });
        }
    }
    match first_offender {
        Some((first, value)) => Err(plan.offence(first as u64, value, offenders)),
        None => Ok(Tensor::from_parts(plan.output_shape().to_vec(), converted)),
    }
}
