//! Schedules of pools with large windows that overlap: a patch of outputs to a workgroup.

use super::cut::{Cutter, Rows, unit};
use super::digits::dense_strides;
use super::pass::{Pass, passes};
use super::pool::{Finish, constants};
use super::{WORKGROUP, grid};
use crate::error::PlanError;
use crate::kernel::{ActivationKind, KernelKey, Patch, Sink, Slot, Source, binding};
use crate::plan::{PoolPlan, count};
use crate::schedule::{Build, Dispatch, Family, Limits, Schedule};
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
    schedule.build = Build::Specialised;
    let passes = passes(plan, Family::Direct, limits)?;
    let [pass] = passes.as_slice() else {
        return refuse("there are more than three spatial axes");
    };
    let finish = Finish::of(plan, activation, &mut schedule.tables, limits)?;
    let uniform = finish.uniform_of(pass, &mut schedule.tables, limits)?;
    let patch = patch(plan, pass, &uniform)?;
    let sink = plan.indices.as_ref().map_or(Sink::Values, |indices| Sink::ValuesAndIndices(indices.index_type));
    let key = KernelKey::PoolPatch { dtype: plan.dtype, sink, activation: activation_kind, patch };
    let tables = key.bindings().iter().any(|it| it.number == binding::TABLES);
    let [rows, groups] = patch.groups();
    let rounds = |items: u32| u64::from(items.div_ceil(patch.workgroup));
    let outputs = u64::from(patch.fall) * 4;
    let iterations = rounds(rows * groups)
        + rounds(rows * patch.width / patch.run)
        + rounds(patch.width * patch.height / patch.fall / 4) * (1 + outputs * finish.iterations);
    // A plane's patches stay together, so that dispatches are cut at planes, and where a word and an alignment end too.
    let plane = pass.axes[1].output * pass.axes[2].output;
    let patches = pass.axes[2].output.div_ceil(patch.width.into()) * pass.axes[1].output.div_ceil(patch.height.into());
    let unit = plane * (unit(plan.dtype) >> plane.trailing_zeros().min(unit(plan.dtype).trailing_zeros()));
    let rows = Rows { unit, outputs: plane, invocations: patches * WORKGROUP };
    let cutter = Cutter { plan, passes: &passes, limits };
    for cut in cutter.cuts(0, sink, &rows)? {
        let invocations = rows.invocations(cut.outputs.count());
        let grid = grid(invocations, limits)?;
        let mut uniform: uniform::Pool = uniform;
        uniform.outputs = cut.outputs.count() as u32;
        uniform.output_first = cut.outputs.first as u32;
        uniform.blocks = (invocations / WORKGROUP) as u32;
        uniform.block_first = (rows.invocations(cut.outputs.first) / WORKGROUP) as u32;
        uniform.x_first = cut.x.first as u32;
        uniform.store_first = cut.store.first as u32;
        uniform.grid_width = grid[0];
        let mut slots = cut.slots(0, Source::Elements, sink, plan);
        slots.retain(|part| part.slot != Slot::Tables || tables);
        let uniform = bytemuck::bytes_of(&uniform).to_vec();
        schedule.dispatches.push(Dispatch { key, uniform, slots, grid, indirect: None, iterations });
    }
    Ok(())
}

fn refuse<T>(reason: &'static str) -> Result<T, PlanError> {
    Err(PlanError::KernelDoesNotApply { family: Family::Patched, reason })
}

/// Neighbours that share a word.
fn lanes(plan: &PoolPlan) -> u64 {
    4 / plan.dtype.bytes() as u64
}

/// What a workgroup computes.
fn patch(plan: &PoolPlan, pass: &Pass, uniform: &uniform::Pool) -> Result<Patch, PlanError> {
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
    let inputs: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
    let own = dense_strides(plan.layout, plan.channels, &inputs);
    let strides = plan.indices.as_ref().map(|indices| indices.space.strides());
    let same_place = plan.indices.as_ref().is_none_or(|indices| {
        indices.space.layout == plan.layout || plan.channels == 1 || count(&plan.output_shape[2..]) == 1
    });
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
        position_index: strides.as_ref() == Some(&own),
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
