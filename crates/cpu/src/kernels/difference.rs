//! The difference of two tensors, element by element, shared among threads.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::subtract;
use wgpu_pooling_plan::{DifferencePlan, ExecuteError, with_element};

use super::parts::{Context, pieces, runs};

/// Writes Y. All are the bytes of elements of the plan's type.
pub(crate) fn difference(
    plan: &DifferencePlan,
    context: &Context<'_>,
    [a, b]: [&[u8]; 2],
    y: &mut [u8],
) -> Result<(), ExecuteError> {
    with_element!(plan.dtype(), T => {
        let [a, b] = [a, b].map(cast_slice::<u8, T>);
        let y = cast_slice_mut::<u8, T>(y);
        let parts = runs(y.len(), context.wanted(plan.bytes()));
        let y = pieces(y, parts.iter().map(ExactSizeIterator::len));
        context.run(parts.iter().cloned().zip(y).collect(), |(part, y), _| {
            context.simd.run(
                #[inline(always)]
                || subtract(y, &a[part.clone()], &b[part]),
            );
            Ok(())
        })
    })
}
