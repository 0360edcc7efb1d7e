//! Pools of whole planes: the division of a plane among invocations, and the stages that follow.

use wgpu_pooling_plan::internal::count;
use wgpu_pooling_plan::{AxisWindow, Layout, PlanError, PoolPlan};

use super::bounds::MAX_ELEMENTS;
use super::partition::CANDIDATE_BYTES;
use super::tuning::policy::REDUCED_FROM;
use super::tuning::reduce::{CHOICE, CHOICE_OF_SOFTWARE, FEW_BYTES, INVOCATIONS, MANY_BYTES, MANY_BYTES_OF_SOFTWARE};
use super::view::{ALIGNMENT, Pass, PassAxis};
use crate::family::Family;
use crate::keys;
use crate::schedule::Limits;
use crate::tables::PassWindow;
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// Invocations that share a slice of a plane (shaders/kernel/pool_reduce.wgsl).
const MEMBERS: u64 = 8;

/// How the planes of a pool are reduced.
pub(super) struct PlaneReduction {
    planes: u64,
    /// Elements per plane.
    elements: u64,
    /// Elements per invocation.
    share: u64,
    /// Candidates per invocation of a later stage.
    choice: u64,
}

/// The elements of a plane, if the windows of a plan are whole, contiguous planes.
///
/// # Errors
/// [`PlanError::KernelDoesNotApply`] of this family if they are not.
pub(super) fn plane_elements(plan: &PoolPlan, family: Family) -> Result<u64, PlanError> {
    if plan.layout() == Layout::Nhwc && plan.channels > 1 {
        return family.refuse("the elements of a plane do not lie together");
    }
    let whole = plan.axes.iter().all(|axis| {
        let taps = axis.taps(0);
        axis.output == 1 && taps.first == 0 && taps.count == axis.input as i64 && (taps.step == 1 || taps.count == 1)
    });
    if !whole {
        return family.refuse("a window is not a whole plane");
    }
    Ok(plan.axes.iter().fold(1, |elements: u64, axis| elements.saturating_mul(axis.input as u64)))
}

/// How a plan is reduced, if its windows are whole, contiguous planes.
pub(super) fn plane_reduction(plan: &PoolPlan, limits: &Limits) -> Result<PlaneReduction, PlanError> {
    let elements = plane_elements(plan, Family::Reducing)?;
    if plan.later_part {
        return Family::Reducing.refuse("the windows are parts of windows");
    }
    if elements >= MAX_ELEMENTS >> 3 {
        return Family::Reducing.refuse("a plane has more elements than a stride can count");
    }
    let (many, choice) =
        if limits.software { (MANY_BYTES_OF_SOFTWARE, CHOICE_OF_SOFTWARE) } else { (MANY_BYTES, CHOICE) };
    let [many, few] = [many, FEW_BYTES].map(|bytes| bytes.checked_div(plan.dtype().bytes() as u64).unwrap_or(1));
    let share = if count(plan.input_shape()).div_ceil(many) >= INVOCATIONS { many } else { few };
    Ok(PlaneReduction { planes: count(&[plan.batch, plan.channels]), elements, share, choice })
}

/// An upper bound on the bytes of scratch memory and uniforms that reducing a tile of this plan takes. A tile's windows
/// may be whole planes of the tile even where the plan's windows are not whole planes of X.
pub(crate) fn most_of_a_reduction(plan: &PoolPlan) -> u64 {
    if plan.most_taps() < REDUCED_FROM {
        return 0;
    }
    let planes = count(&[plan.batch, plan.channels]);
    let bytes = count(plan.input_shape()).saturating_mul(plan.dtype().bytes() as u64);
    let candidates = (bytes / FEW_BYTES).saturating_add(planes.saturating_mul(MEMBERS));
    // Every stage divides the number of candidates by `CHOICE`, rounded up per plane.
    const STAGES: u64 = 10;
    const CONSTANTS: u64 = 2 * STAGES * (size_of::<uniform::Pool>() as u64).next_multiple_of(ALIGNMENT);
    let later = (candidates / (CHOICE / 2)).saturating_add(planes.saturating_mul(STAGES));
    candidates.saturating_add(later).saturating_mul(CANDIDATE_BYTES).saturating_add(CONSTANTS)
}

impl PlaneReduction {
    pub fn key(&self, plan: &PoolPlan) -> KernelKey {
        keys::reduce(plan.reduction, plan.dtype(), count(plan.input_shape()), plan.nan_policy)
    }

    /// The stages: the first reduces planes to candidates, with eight invocations per slice of a plane; the next ones
    /// reduce candidates to fewer candidates; the last one writes the outputs.
    ///
    /// # Errors
    /// [`PlanError::ExceedsLimit`] for more candidates than positions can count.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "an invocation's share is 32 to 2048 elements, and a plane has less than 2^28 (`plane_reduction`)"
    )]
    pub fn passes(&self, plan: &PoolPlan) -> Result<Vec<Pass>, PlanError> {
        let part = self.share * MEMBERS;
        let mut candidates = self.elements.div_ceil(part) * MEMBERS;
        // The members of a team read their slice in strides. To compute the bound ranges, a member's reads are
        // described as one dilated window. It is wide enough to cover the whole slice, both for the first and for the
        // last member.
        let before = (MEMBERS - 1) * self.share;
        let dilation = (before + part - 1).div_ceil(self.share - 1);
        let window = AxisWindow::Strided {
            kernel: self.share as i64,
            stride: self.share as i64,
            dilation: dilation as i64,
            pad_begin: before as i64,
        };
        let pass = |input, output, most_taps, window| {
            let axis = PassAxis { input, output, most_taps, window: PassWindow::Axis(window) };
            Pass::of(self.planes, [PassAxis::unit(), PassAxis::unit(), axis], 1)
        };
        let mut passes = vec![pass(self.elements, candidates, self.share, window)?];
        while passes.len() == 1 || candidates > 1 {
            let fewer = candidates.div_ceil(self.choice);
            let choice = self.choice as i64;
            let window = AxisWindow::Strided { kernel: choice, stride: choice, dilation: 1, pad_begin: 0 };
            passes.push(pass(candidates, fewer, self.choice.min(candidates), window)?);
            candidates = fewer;
        }
        debug_assert_eq!(count(plan.output_shape()), self.planes);
        Ok(passes)
    }
}
