//! Minima as maxima of mirrored elements, whose order is reversed (`Reduction::mirror_bits`): kernels compute maxima of
//! a mirrored X, and what they have written is mirrored back. The results are exact: of equal elements the first wins
//! in both orders, zeros of both signs too, and NaN stays NaN.

use bytemuck::cast_slice_mut;
use wgpu_pooling_plan::internal::{Reduction, activate};
use wgpu_pooling_plan::{Activation, DType, Element, ExecuteError, PoolPlan, with_element};

use super::parts::Context;
use super::tuning::threads::MIRRORED_BYTES;

/// The pool of maxima that a minimum is, if the plan is one. The activation is for elements that are mirrored back.
pub(crate) fn maxima(plan: &PoolPlan) -> Option<PoolPlan> {
    let maxima = || PoolPlan { reduction: Reduction::Max, activation: Activation::Identity, ..plan.clone() };
    (plan.reduction != Reduction::Max).then(maxima)
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
        to.copy_from_slice(from);
        invert(bits, to);
        Ok(())
    })
}

/// Mirrors the elements of Y back, and applies the activation, with all threads.
pub(crate) fn finish(plan: &PoolPlan, context: &Context<'_>, y: &mut [u8]) -> Result<(), ExecuteError> {
    let bits = pattern(plan);
    context.run(y.chunks_mut(MIRRORED_BYTES).collect(), |y, _| {
        invert(bits, y);
        if plan.activation != Activation::Identity {
            with_element!(plan.dtype(), T => activate_all(plan.activation, cast_slice_mut::<u8, T>(y)));
        }
        Ok(())
    })
}

fn activate_all<T: Element>(activation: Activation, y: &mut [T]) {
    y.iter_mut().for_each(|y| *y = activate(activation, *y));
}

/// The bits that are inverted in eight bytes of elements.
fn pattern(plan: &PoolPlan) -> u64 {
    let dtype: DType = plan.dtype();
    let bits = 8 * dtype.bytes();
    (0..64).step_by(bits).fold(0, |all, at| all | plan.reduction.mirror_bits(dtype) << at)
}

/// Inverts the bits of a pattern, which repeats every eight bytes. All elements are whole.
fn invert(pattern: u64, bytes: &mut [u8]) {
    let bits = pattern.to_le_bytes();
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        std::iter::zip(word, bits).for_each(|(byte, bits)| *byte ^= bits);
    }
    std::iter::zip(words.into_remainder(), bits).for_each(|(byte, bits)| *byte ^= bits);
}
