//! Minima as maxima of mirrored elements, whose order is reversed (`Reduction::mirror_bits`): a kernel that does not
//! mirror elements itself computes the maxima of a mirrored X, and what it has written is mirrored back. The results
//! are exact: of equal elements the first wins in both orders, zeros of both signs too, and NaN stays NaN.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{Activation, Element, ExecuteError, PoolPlan, with_element};

use super::parts::Context;
use super::tuning::threads::MIRRORED_BYTES;

/// The pool of the maxima of a mirrored X, if the plan is a minimum. The activation is for elements that are mirrored
/// back.
pub(crate) fn maxima(plan: &PoolPlan) -> Option<PoolPlan> {
    let empty_bits = plan.empty_bits ^ plan.reduction.mirror_bits(plan.dtype());
    let maxima =
        || PoolPlan { reduction: Reduction::Max, empty_bits, activation: Activation::Identity, ..plan.clone() };
    (plan.reduction != Reduction::Max).then(maxima)
}

/// The element with these bits inverted.
#[inline(always)]
pub(crate) fn inverted<T: Element>(element: T, bits: u64) -> T {
    T::from_bits64(element.to_bits64() ^ bits)
}

/// Writes the mirrored elements of X, with all threads.
pub(crate) fn mirror(
    plan: &PoolPlan,
    context: &Context<'_>,
    x: &[u8],
    mirrored: &mut [u8],
) -> Result<(), ExecuteError> {
    let bits = plan.reduction.mirror_bits(plan.dtype());
    let tasks = mirrored.chunks_mut(MIRRORED_BYTES).zip(x.chunks(MIRRORED_BYTES)).collect();
    context.run(tasks, |(to, from): (&mut [u8], &[u8]), _| {
        with_element!(plan.dtype(), T => {
            let (to, from) = (cast_slice_mut::<u8, T>(to), cast_slice::<u8, T>(from));
            to.iter_mut().zip(from).for_each(|(to, from)| *to = inverted(*from, bits));
        });
        Ok(())
    })
}

/// Mirrors the elements of Y back, and applies the activation, with all threads.
pub(crate) fn finish(plan: &PoolPlan, context: &Context<'_>, y: &mut [u8]) -> Result<(), ExecuteError> {
    let bits = plan.reduction.mirror_bits(plan.dtype());
    context.run(y.chunks_mut(MIRRORED_BYTES).collect(), |y, _| {
        with_element!(plan.dtype(), T => {
            let y = cast_slice_mut::<u8, T>(y);
            y.iter_mut().for_each(|y| *y = inverted(*y, bits));
            plan.activation.apply_all(y);
        });
        Ok(())
    })
}
