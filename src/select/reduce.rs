//! Pools of whole planes: how a plane is shared out, and the stages that follow.

use super::cut::CANDIDATE_BYTES;
use super::pass::{ALIGNMENT, Pass, PassAxis, PassWindow};
use super::{MAX_ELEMENTS, REDUCED_FROM, WORKGROUP};
use crate::attributes::Layout;
use crate::error::PlanError;
use crate::geometry::AxisWindow;
use crate::kernel::{KernelKey, WindowConstants};
use crate::plan::{PoolPlan, count};
use crate::schedule::Family;
use crate::uniform;

/// Elements that an invocation looks at: enough to make its candidate's eight bytes few beside them,
const MANY: u64 = 256;

/// and fewer where there are not enough invocations to occupy a device.
const FEW: u64 = 64;

/// Invocations that occupy a device.
const INVOCATIONS: u64 = 1 << 17;

/// Candidates among which an invocation of a later stage chooses.
const CHOICE: u64 = 64;

/// How the planes of a pool are reduced.
pub(super) struct Reduction {
    planes: u64,
    /// Elements of a plane.
    elements: u64,
    /// Elements that an invocation looks at.
    share: u64,
}

/// How a plan is reduced, if its windows are whole planes that lie together.
pub(super) fn reduction(plan: &PoolPlan) -> Result<Reduction, PlanError> {
    let refuse = |reason| Err(PlanError::KernelDoesNotApply { family: Family::Reducing, reason });
    if plan.layout == Layout::Nhwc && plan.channels > 1 {
        return refuse("the elements of a plane do not lie together");
    }
    let whole = plan.axes.iter().all(|axis| {
        let taps = axis.taps(0);
        axis.output == 1 && taps.first == 0 && taps.count == axis.input as i64 && (taps.step == 1 || taps.count == 1)
    });
    if !whole {
        return refuse("a window is not a whole plane");
    }
    if plan.later_part {
        return refuse("the windows are parts of windows");
    }
    let elements: u64 = plan.axes.iter().map(|axis| axis.input as u64).product();
    if elements >= MAX_ELEMENTS >> 3 {
        return refuse("a plane has more elements than a stride can count");
    }
    let all = count(&plan.input_shape);
    let share = if all / MANY >= INVOCATIONS { MANY } else { FEW };
    Ok(Reduction { planes: plan.batch as u64 * plan.channels as u64, elements, share })
}

/// A bound on the buffers of its own that a reduction of part of this plan takes: that part may be whole planes where the plan is
/// not.
pub(crate) fn most_of_a_reduction(plan: &PoolPlan) -> u64 {
    let taps = plan.axes.iter().fold(1, |taps: u64, axis| taps.saturating_mul(axis.most_taps()));
    if taps < REDUCED_FROM {
        return 0;
    }
    let planes = plan.batch as u64 * plan.channels as u64;
    let candidates = count(&plan.input_shape) / FEW + planes * WORKGROUP;
    // Every stage leaves a part of what the one before did, rounded up for each plane.
    let stages = 5;
    let constants = 2 * stages * (size_of::<uniform::Pool>() as u64).next_multiple_of(ALIGNMENT);
    CANDIDATE_BYTES * (candidates + candidates / (CHOICE / 2) + stages * planes) + constants
}

impl Reduction {
    pub fn key(&self, plan: &PoolPlan) -> KernelKey {
        let bytes = self.elements * plan.dtype.bytes() as u64;
        let fits = |words: &u64| bytes.is_multiple_of(words * 4) && words * 4 >= plan.dtype.bytes() as u64;
        let load_words = [4, 2, 1].into_iter().find(fits).unwrap_or(0) as u32;
        let [kernel, stride, dilation] = [[1; 3]; 3];
        let constants = WindowConstants { kernel, stride, dilation, kind: [0; 3], nan_policy: plan.nan_policy };
        KernelKey::PoolReduce { dtype: plan.dtype, constants, load_words }
    }

    /// From planes to candidates, a group of invocations for a part of a plane; from candidates to fewer; to outputs.
    pub fn passes(&self, plan: &PoolPlan) -> Vec<Pass> {
        let part = self.share * WORKGROUP;
        let mut candidates = self.elements.div_ceil(part) * WORKGROUP;
        // What a candidate comes from lies somewhere in the part of its group. As a window: the taps that there are, as far apart
        // as it takes to reach from the part's begin, seen from its last candidate, to its end, seen from its first.
        let before = (WORKGROUP - 1) * self.share;
        let dilation = (before + part - 1).div_ceil(self.share - 1);
        let window = AxisWindow::Strided {
            kernel: self.share as i64,
            stride: self.share as i64,
            dilation: dilation as i64,
            pad_begin: before as i64,
        };
        let pass = |input, output, most_taps, window| Pass {
            outer: self.planes,
            axes: [
                PassAxis::unit(),
                PassAxis::unit(),
                PassAxis { input, output, most_taps, window: PassWindow::Axis(window) },
            ],
            inner: 1,
        };
        let mut passes = vec![pass(self.elements, candidates, self.share, window)];
        while passes.len() == 1 || candidates > 1 {
            let fewer = candidates.div_ceil(CHOICE);
            let window =
                AxisWindow::Strided { kernel: CHOICE as i64, stride: CHOICE as i64, dilation: 1, pad_begin: 0 };
            passes.push(pass(candidates, fewer, CHOICE.min(candidates), window));
            candidates = fewer;
        }
        debug_assert_eq!(count(&plan.output_shape), self.planes);
        passes
    }
}
