//! Minima as maxima of mirrored elements, whose order is reversed (`Reduction::mirror_bits`): a kernel that does not
//! mirror elements itself computes the maxima of a mirrored X, and what it has written is mirrored back. The results
//! are exact: of equal elements the first wins in both orders, zeros of both signs too, and NaN stays NaN.

use bytemuck::cast_slice_mut;
use wgpu_pooling_plan::internal::{Reduction, activate_all};
use wgpu_pooling_plan::{Activation, ExecuteError, PoolPlan, with_element};

use super::parts::Context;
use super::tuning::threads::MIRRORED_BYTES;

/// The pool of maxima that a minimum is, if the plan is one. The activation is for elements that are mirrored back, by
/// the kernel if it `mirrors`.
pub(crate) fn maxima(plan: &PoolPlan, mirrors: bool) -> Option<PoolPlan> {
    let activation = if mirrors { plan.activation } else { Activation::Identity };
    (plan.reduction != Reduction::Max).then(|| PoolPlan { reduction: Reduction::Max, activation, ..plan.clone() })
}

/// Writes the mirrored elements of X, with all threads.
pub(crate) fn mirror(
    plan: &PoolPlan,
    context: &Context<'_>,
    x: &[u8],
    mirrored: &mut [u8],
) -> Result<(), ExecuteError> {
    let bits = pattern(plan);
    let tasks = mirrored.chunks_mut(MIRRORED_BYTES).zip(x.chunks(MIRRORED_BYTES)).collect();
    context.run(tasks, |(to, from): (&mut [u8], &[u8]), _| {
        let ((to, last), (from, last_from)) = (to.as_chunks_mut(), from.as_chunks());
        for (to, from) in to.iter_mut().zip(from) {
            *to = inverted(from, &bits);
        }
        last.iter_mut().zip(last_from).zip(bits).for_each(|((to, from), bits)| *to = from ^ bits);
        Ok(())
    })
}

/// Mirrors the elements of Y back, and applies the activation, with all threads.
pub(crate) fn finish(plan: &PoolPlan, context: &Context<'_>, y: &mut [u8]) -> Result<(), ExecuteError> {
    let bits = pattern(plan);
    context.run(y.chunks_mut(MIRRORED_BYTES).collect(), |y, _| {
        let (all, last) = y.as_chunks_mut();
        all.iter_mut().for_each(|bytes| *bytes = inverted(bytes, &bits));
        last.iter_mut().zip(bits).for_each(|(byte, bits)| *byte ^= bits);
        with_element!(plan.dtype(), T => activate_all(plan.activation, cast_slice_mut::<u8, T>(y)));
        Ok(())
    })
}

/// The bytes in which the bits repeat that are inverted: a few vectors, whole elements of any type.
const BITS_BYTES: usize = 128;

/// The bits that are inverted in so many bytes of elements.
fn pattern(plan: &PoolPlan) -> [u8; BITS_BYTES] {
    let bits = plan.reduction.mirror_bits(plan.dtype()).to_le_bytes();
    std::array::from_fn(|byte| bits[byte % plan.dtype().bytes()])
}

fn inverted(bytes: &[u8; BITS_BYTES], bits: &[u8; BITS_BYTES]) -> [u8; BITS_BYTES] {
    std::array::from_fn(|byte| bytes[byte] ^ bits[byte])
}
