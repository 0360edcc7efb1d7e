//! Pools of whole planes in two dispatches: the first reduces parts of planes to candidates, the second the candidates
//! of each plane.

use wgpu_pooling_plan::{PlanError, PoolPlan};

use super::bounds::{MAX_ELEMENTS, check_buffer, grid};
use super::cost::team_effort;
use super::epilogue::{Epilogue, PoolContext, lanes};
use super::partition::{CANDIDATE_BYTES, Groups, Partitioner};
use super::team::{self, TeamWindow, by_quads, plane_elements, plane_pass};
use super::tuning::reduce::{
    FEWEST_BYTES, MEMBERS, MEMBERS_OF_SOFTWARE, MOST_BYTES, PARTS, PARTS_OF_SOFTWARE, REDUCED_FROM,
};
use super::view::ALIGNMENT;
use crate::family::Family;
use crate::kernel::{ActivationKind, Kernel, PassInput, PassOutput, WORKGROUP};
use crate::schedule::{Dispatch, Schedule};
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// An upper bound on the bytes of scratch memory and uniforms that reducing a tile of this plan takes. A tile's windows
/// may be whole planes of the tile even where the plan's windows are not whole planes of X.
pub(crate) fn most_of_a_reduction(plan: &PoolPlan) -> u64 {
    if plan.most_taps() < REDUCED_FROM {
        return 0;
    }
    // Other windows are pooled along one axis after the other instead, the longest first and in parts of 1,024 taps: in
    // at most ten dispatches.
    const CONSTANTS: u64 = 2 * 10 * (size_of::<uniform::Pool>() as u64).next_multiple_of(ALIGNMENT);
    let elements = plan.input_elements();
    let longest = plan.axes.iter().map(|axis| axis.input as u64).max().unwrap_or(1);
    let along_others = elements.checked_div(longest).unwrap_or(0).saturating_mul(2);
    let parts = elements.saturating_mul(plan.dtype().bytes() as u64) / 512;
    let candidates = along_others.saturating_add(parts).saturating_add(plan.planes());
    candidates.saturating_mul(CANDIDATE_BYTES).saturating_add(CONSTANTS)
}

/// The fewest bytes of a part: a load for every invocation.
const LEAST_BYTES: u64 = WORKGROUP * 16;

/// Elements of a part: few enough that there are `parts` in all, where X has so many bytes.
fn elements_of_a_part(plan: &PoolPlan, parts: u64, asked: Option<u64>) -> u64 {
    let size = plan.dtype().bytes() as u64;
    let bytes = plan.input_elements().saturating_mul(size).checked_div(parts).unwrap_or(0);
    // An invocation of each slice has an element.
    let asked = asked.map(|bytes| bytes.clamp(LEAST_BYTES, MOST_BYTES));
    let bytes = asked.unwrap_or(bytes.clamp(FEWEST_BYTES, MOST_BYTES));
    (1u64 << bytes.ilog2()).checked_div(size).unwrap_or(1)
}

/// Appends the dispatches to a schedule that has none.
pub(super) fn dispatches(schedule: &mut Schedule, context: &PoolContext<'_>) -> Result<(), PlanError> {
    let PoolContext { plan, limits, activation, .. } = *context;
    let elements = plane_elements(plan, Family::Reducing)?;
    if elements == 0 {
        return Family::Reducing.refuse("the windows are empty");
    }
    if elements >= MAX_ELEMENTS >> 3 {
        return Family::Reducing.refuse("a plane has more elements than a stride can count");
    }
    let (least, sharing) = if limits.software { (PARTS_OF_SOFTWARE, MEMBERS_OF_SOFTWARE) } else { (PARTS, MEMBERS) };
    let part = elements_of_a_part(plan, least, limits.sizes.part_bytes);
    let parts = elements.div_ceil(part);
    // The kernels find parts and planes in X by the strides.
    let passes = [plane_pass(plan, elements, part, part)?, plane_pass(plan, parts, parts, elements)?];
    let candidates = passes[0].outputs.saturating_mul(CANDIDATE_BYTES);
    check_buffer("bytes of candidates (max_buffer_bytes)", candidates, limits)?;
    schedule.scratch.push(candidates);
    // The largest power of two that leaves no invocation without a candidate.
    let members = 1 << parts.min(WORKGROUP).ilog2();
    let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
    let lanes = lanes(plan.dtype());
    let stages = [
        (
            (PassInput::Elements, PassOutput::Candidates),
            kernel(plan, sharing),
            Groups {
                unit: ALIGNMENT / CANDIDATE_BYTES,
                invocations_per_group: WORKGROUP,
                ..Groups::of(1, plan.dtype())
            },
            (WORKGROUP as u32, part.div_ceil(WORKGROUP)),
        ),
        (
            (PassInput::Candidates, PassOutput::of(plan)),
            team::kernel(context, members, TeamWindow::Candidates, &passes[1]),
            Groups { invocations_per_group: members.into(), ..Groups::of(lanes, plan.dtype()) },
            (members, parts.div_ceil(members.into()).saturating_add(epilogue.iterations()).saturating_mul(lanes)),
        ),
    ];
    let partitioner = Partitioner { plan, passes: &passes, limits };
    for (number, ((input, sink), key, groups, (members, loads))) in stages.into_iter().enumerate() {
        // What the invocations of a workgroup find is joined in 16 iterations of each of its windows.
        let iterations = loads.saturating_add(lanes.saturating_mul(16));
        let effort = team_effort(plan, members, loads);
        let uniform = epilogue.uniform_of(&passes[number], &mut schedule.tables, limits)?;
        for ranges in partitioner.dispatches(number, sink, &groups)? {
            let grid = grid(groups.invocations(ranges.outputs), limits)?;
            let uniform = ranges.uniform(uniform, grid);
            let operands = ranges.operands(number, input, sink, plan, &key);
            schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, iterations).with(effort));
        }
    }
    Ok(())
}

/// The first dispatch, in which `members` invocations share a slice of a part.
fn kernel(plan: &PoolPlan, members: u32) -> KernelKey {
    let (by_quads, loads) = by_quads(plan);
    let name = format!("pool {} reduced to candidates, {loads}", plan.dtype().name());
    let consts =
        [("NAN_POLICY", plan.nan_policy as u32), ("MEMBERS", members), ("TEAM", WORKGROUP as u32), ("WINDOWS", 1)];
    let kernel = Kernel::of_pool(name, "pool_reduce", plan, PassOutput::Candidates, ActivationKind::Identity);
    kernel.with(by_quads).constants(consts).into()
}
