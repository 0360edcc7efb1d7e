//! Windows in which NaN is no element (`NanPolicy::Ignore`), by any kernel: it lets windows begin with -inf, which NaN
//! never exceeds, as with the seed of `NanPolicy::SeedLowest`. So its maxima are right wherever they exceed -inf. What
//! is -inf is looked at again: the window may have such an element, or none at all, and is then empty.

use bytemuck::{cast_slice, cast_slice_mut};
use wgpu_pooling_plan::internal::EmptyBase;
use wgpu_pooling_plan::{Activation, Element, ExecuteError, PoolPlan, with_element};

use super::general;
use super::indices::IndicesMut;
use super::kernel::{Operands, PoolKernel};
use super::mirror::maxima;
use super::parts::{Context, OutputPart, PartOf};
use super::scratch::ThreadMemory;
use super::view::View;

/// A kernel, and the look at its outputs.
#[derive(Debug)]
pub(crate) struct Ignoring {
    kernel: Box<dyn PoolKernel>,
    /// The plan of the kernel: an empty window gives -inf.
    bare: PoolPlan,
    /// The plan of X and Y as the kernel reads and leaves them, without the activation.
    settled: PoolPlan,
}

impl Ignoring {
    /// `mirrors` tells whether the kernel is given the plan of a minimum with its X.
    pub fn new(plan: &PoolPlan, mirrors: bool, kernel: Box<dyn PoolKernel>) -> Ignoring {
        let own = if mirrors { None } else { maxima(plan) }.unwrap_or_else(|| plan.clone());
        let settled = PoolPlan { activation: Activation::Identity, ..own };
        let empty_bits = settled.reduction.lowest_bits(plan.dtype());
        Ignoring { kernel, bare: PoolPlan { empty_bits, ..settled.clone() }, settled }
    }

    /// Whether a kernel's outputs have to be looked at: not if values are all, and an empty window gives -inf.
    pub fn applies(plan: &PoolPlan) -> bool {
        let lowest = plan.reduction.lowest_bits(plan.dtype());
        plan.ignores_nan() && (plan.indices.is_some() || plan.empty_bits != lowest)
    }

    /// Looks at the outputs of a part, and applies the activation.
    fn settle(&self, part: &PartOf<'_>, x: &[u8], y: &mut [u8], indices: Option<IndicesMut<'_>>) {
        let own = PartOf { plan: &self.settled, ..*part };
        with_element!(part.plan.dtype(), T => {
            let y = cast_slice_mut::<u8, T>(y);
            settle(&own, cast_slice(x), y, indices);
            part.plan.activation.apply_all(y);
        });
    }
}

impl PoolKernel for Ignoring {
    fn run(
        &self,
        part: &PartOf<'_>,
        (x, y, mut indices): Operands<'_>,
        scratch: &mut ThreadMemory,
    ) -> Result<(), ExecuteError> {
        let of_kernel = indices.as_mut().map(|indices| indices.tail(0));
        self.kernel.run(&PartOf { plan: &self.bare, ..*part }, (x, y, of_kernel), scratch)?;
        self.settle(part, x, y, indices);
        Ok(())
    }

    fn parts(&self, planes: usize, wanted: usize) -> (usize, usize) {
        self.kernel.parts(planes, wanted)
    }

    fn run_in_blocks(
        &self,
        (plan, view, context): (&PoolPlan, &View, &Context<'_>),
        x: &[u8],
        y: &mut [u8],
        mut indices: Option<&mut IndicesMut<'_>>,
    ) -> Result<bool, ExecuteError> {
        let done = self.kernel.run_in_blocks((&self.bare, view, context), x, y, indices.as_deref_mut())?;
        if done {
            let part = &OutputPart { outer: 0..view.outer, rows: 0..view.axes[0].output };
            let indices = indices.map(|indices| indices.tail(0));
            self.settle(&PartOf { plan, view, part, context }, x, y, indices);
        }
        Ok(done)
    }
}

/// Writes the outputs that are -inf once more.
fn settle<T: Element>(part: &PartOf<'_>, x: &[T], y: &mut [T], mut indices: Option<IndicesMut<'_>>) {
    let (plan, view) = (part.plan, part.view);
    let lowest = plan.seed::<T>().to_bits64();
    let has_lowest = |elements: &[T]| {
        part.context.simd.run(
            #[inline(always)]
            || elements.iter().fold(false, |any, element| any | (element.to_bits64() == lowest)),
        )
    };
    if !has_lowest(y) {
        return;
    }
    // The rows of X that the windows can reach, of which each has `row` elements.
    let OutputPart { outer, rows } = part.part;
    let (axis, row) = (&view.axes[0], view.plane() / view.axes[0].input.max(1));
    let [first, last] = [rows.start, rows.end - 1].map(|output| axis.taps(output));
    let end = last.first.saturating_add(last.count.saturating_mul(last.step)).clamp(0, axis.input as i64) as usize;
    let first = first.first.clamp(0, end as i64) as usize;
    let reached = outer.start * view.plane() + first * row..(outer.end - 1) * view.plane() + end * row;
    match (has_lowest(&x[reached]), view.empty_index) {
        // All are empty, and have one index.
        (false, EmptyBase::Constant(index)) => {
            let empty = plan.empty::<T>();
            for (number, y) in y.iter_mut().enumerate().filter(|(_, y)| y.to_bits64() == lowest) {
                *y = empty;
                if let Some(indices) = &mut indices {
                    indices.set(number, index);
                }
            }
        }
        _ => general::pool(part, x, y, indices.as_mut(), Some(lowest)),
    }
}
