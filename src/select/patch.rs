//! Schedules of pools with large windows that overlap: a patch of outputs to a workgroup.

use super::WORKGROUP;
use super::cut::{Rows, unit};
use super::one_pass::OnePass;
use super::pool::constants;
use crate::error::PlanError;
use crate::kernel::{ActivationKind, Patch, Written, keys};
use crate::plan::PoolPlan;
use crate::schedule::{Family, Limits, Schedule};
use crate::uniform;

/// Workgroup memory that every device has.
const WORKGROUP_BYTES: u32 = 16 << 10;

/// The longest kernel: what an invocation reads of a row stays in registers.
const MOST_KERNEL: u32 = 48;

/// Appends the dispatches to a schedule without any.
pub(super) fn dispatches(
    schedule: &mut Schedule,
    plan: &PoolPlan,
    limits: &Limits,
    activation_kind: ActivationKind,
    activation: uniform::Activation,
) -> Result<(), PlanError> {
    let one = OnePass::of(schedule, plan, limits, activation)?;
    let patch = patch(plan, &one)?;
    let key = keys::written(plan.dtype, one.sink(), activation_kind, Written::Patch(patch), None);
    let [rows, groups] = patch.groups();
    let rounds = |items: u32| u64::from(items.div_ceil(patch.workgroup));
    let outputs = u64::from(patch.fall) * 4;
    let iterations = rounds(rows * groups)
        + rounds(rows * patch.width / patch.run)
        + rounds(patch.width * patch.height / patch.fall / 4) * (1 + outputs * one.index_iterations);
    // A plane's patches stay together, so that dispatches are cut at planes, and where a word and an alignment end too.
    let [_, height, width] = [0, 1, 2].map(|axis| one.pass.axes[axis].output);
    let (plane, whole) = (height * width, unit(plan.dtype));
    let unit = plane * (whole >> plane.trailing_zeros().min(whole.trailing_zeros()));
    let patches = width.div_ceil(patch.width.into()) * height.div_ceil(patch.height.into());
    let rows = Rows { unit, outputs: plane, invocations: patches * WORKGROUP, whole: false };
    one.dispatches(schedule, key, &rows, WORKGROUP, iterations)
}

fn refuse<T>(reason: &'static str) -> Result<T, PlanError> {
    Err(PlanError::KernelDoesNotApply { family: Family::Patched, reason })
}

/// Neighbours that share a word.
fn lanes(plan: &PoolPlan) -> u64 {
    4 / plan.dtype.bytes() as u64
}

/// What a workgroup computes.
fn patch(plan: &PoolPlan, one: &OnePass<'_>) -> Result<Patch, PlanError> {
    let (pass, uniform) = (&one.pass, &one.uniform);
    if plan.has_empty_windows() || plan.later_part {
        return refuse("a window can be empty, or is a part of a window");
    }
    if plan.dtype.bytes() > 4 || pass.inner > 1 {
        return refuse("elements have 64 bits, or channels lie between the elements of a row");
    }
    let window = constants(uniform, plan);
    if window.kind != [0; 3] || window.dilation[1..] != [1, 1] || window.kernel.iter().any(|&it| it > MOST_KERNEL) {
        return refuse("the windows are dilated, too large, or not given by a kernel and a stride");
    }
    if uniform.axes[2].pad_begin < 0 {
        return refuse("the windows begin behind the first element");
    }
    let first = &uniform.axes[0];
    if first.kernel != 1 || first.stride != 1 || first.input != first.output {
        return refuse("the windows have three axes");
    }
    if !(1..3).any(|axis| window.stride[axis] < window.kernel[axis]) || (1..3).any(|axis| window.stride[axis] > 4) {
        return refuse("the windows do not overlap, or stride far");
    }
    let [height, width] = [pass.axes[1].output, pass.axes[2].output];
    if !width.is_multiple_of(lanes(plan)) {
        return refuse("the last axis does not come out even with words");
    }
    let position_index = one.index_strides().is_some_and(|[index, own]| index == own);
    let same_place = one.same_place();
    let of = |width: u32, height: u32| Patch {
        window,
        width,
        height,
        run: if window.kernel[2] > 16 && width.is_multiple_of(16) { 16 } else { 8 },
        fall: [4, 2].into_iter().find(|fall| height.is_multiple_of(*fall)).unwrap_or(1),
        workgroup: 64,
        pad: uniform.axes[2].pad_begin as u32,
        exact: pass.axes[2].output.is_multiple_of(4),
        wide: plan.dtype.bytes() == 4 && pass.axes[2].input.is_multiple_of(4),
        position_index,
        same_place,
    };
    let candidates = [8, 16, 24, 32, 40, 48, 64, 128, 256]
        .into_iter()
        .flat_map(|width| [1, 2, 4, 8, 16, 24, 32, 40, 48].into_iter().map(move |height| (width, height)))
        .map(|(width, height)| of(width, height))
        .filter(|patch| patch.workgroup_bytes(plan.indices.is_some()) <= WORKGROUP_BYTES);
    // What all patches together read, and what their invocations compare, by how often neighbours share.
    let cost = |patch: &Patch| {
        let [rows, columns] = patch.inputs().map(u64::from);
        let doublings = |kernel: u32, run: u32| {
            let merges = |levels: u32| u64::from(run + kernel) * u64::from(levels + 1);
            merges(kernel.ilog2()) * 16 / u64::from(run)
        };
        let patches = width.div_ceil(patch.width.into()) * height.div_ceil(patch.height.into());
        let of_rows = rows * u64::from(patch.width) * doublings(window.kernel[2], patch.run);
        let of_columns = u64::from(patch.width * patch.height) * doublings(window.kernel[1], patch.fall);
        patches * (rows * columns * 64 + of_rows + of_columns + 64 * u64::from(patch.workgroup) * 16)
    };
    let Some(patch) = candidates.min_by_key(cost) else {
        return refuse("what a patch looks at exceeds the memory of a workgroup");
    };
    Ok(patch)
}
