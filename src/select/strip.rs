//! Schedules of pools whose large windows slide by one element along lines and columns, in one pass: eight invocations
//! compute a strip of Y (shaders/kernel/pool_strip.wgsl).

use wgpu_pooling_plan::{PlanError, PoolPlan};

use super::bounds::MAX_ITERATIONS;
use super::cost::of_an_index;
use super::epilogue::{PoolContext, ignores_from_starts, lanes};
use super::one_pass::OnePass;
use super::partition::{Groups, same_place, unit};
use super::thread_tile::{by_fours, has_room};
use super::tuning::cost::OPS_PER_STRIP_OUTPUT;
use super::tuning::strip::{INVOCATIONS, MOST_BLOCKS};
use super::view::{FORMULA, Pass, only_pass};
use crate::family::Family;
use crate::kernel::{Kernel, PassOutput, WORKGROUP};
use crate::schedule::{Effort, Schedule};
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// The extents of a window: a strip has eight columns, of which all row windows hold one; and the number of a tap has
/// six bits for its column (shaders/strip/numbers.wgsl).
const EXTENTS: std::ops::RangeInclusive<u32> = 8..=31;

// The line of a tap, in the blocks of a strip and in one more, has nine bits, and the largest number is a code.
const _: () = assert!((MOST_BLOCKS + 1) * (*EXTENTS.end() as u64) < (1 << 9) - 1 && *EXTENTS.end() + 8 < 1 << 6);

/// With fewer windows along an axis, most of a strip would lie beyond Y.
const FEWEST: u64 = 4;

/// Columns of a strip.
const STRIP: u64 = 8;

/// The workgroup memory of every device.
const WORKGROUP_BYTES: u64 = 16_384;

/// Appends the dispatches to a schedule that has none.
pub(super) fn dispatches(schedule: &mut Schedule, context: &PoolContext<'_>) -> Result<(), PlanError> {
    let PoolContext { plan, limits, .. } = *context;
    if ignores_from_starts(plan) {
        return Family::Strip.refuse("indices of windows of NaN follow from their begins");
    }
    let mut one = OnePass::new(schedule, context, only_pass(plan, Family::Strip, limits)?)?;
    let windows = one.pass.windows();
    let [_, lines, columns] = windows.map(|axis| axis.kernel);
    let [depth, rows, last] = &one.pass.axes;
    let inner = one.pass.inner;
    if !slides(plan, &windows, &one.pass) {
        return Family::Strip.refuse("the windows do not slide by one element along lines and columns");
    }
    let Some(group) = group(context, &one.pass) else {
        return Family::Strip.refuse("rows are not whole words");
    };
    let beside = plan.indices.is_some() && !has_room(plan);
    let Some(columns_kept) = columns_kept(beside, lines) else {
        return Family::Strip.refuse("a block exceeds the memory of a workgroup");
    };
    // A strip reads one block more than it writes. AMD, 4 drawn pools with 13 to 20 lines of outputs and 24 to 31 of
    // windows: 1.2 to 1.7 times as long as along one axis at a time.
    if beside && rows.output < lines.into() {
        return Family::Strip.refuse("most lines of a strip would be read for few outputs");
    }
    let (across, height, depths) = (last.output.div_ceil(STRIP), rows.output, depth.output);
    let strips = |blocks: u64| height.div_ceil(blocks.saturating_mul(lines.into()).max(1));
    let cells = if group[0] > 1 { group[1].into() } else { inner };
    let of_a_plane = |blocks| [strips(blocks), across, cells, depths].into_iter().fold(STRIP, u64::saturating_mul);
    let enough = |blocks: &u64| of_a_plane(*blocks).saturating_mul(one.pass.planes()) >= INVOCATIONS;
    let by_size = || (1..=MOST_BLOCKS).rev().find(enough).unwrap_or(1);
    let most = limits.sizes.strip_blocks.map_or_else(by_size, |asked| asked.clamp(1, MOST_BLOCKS));
    // As high as the others, all strips waste the least.
    let blocks = height.div_ceil(strips(most)).div_ceil(lines.into());
    let kernel = kernel(context, &one, &windows, blocks as u32, group, columns_kept);
    let groups = Groups {
        unit: unit(plan.dtype()),
        outputs_per_group: one.pass.outputs.checked_div(one.pass.planes()).unwrap_or(1),
        invocations_per_group: of_a_plane(blocks),
        whole: true,
        taps: Some(columns.into()),
    };
    one.uniform.split = [cells, across, strips(blocks), depths].map(uniform::Divisor::new);
    // An invocation has an eighth of the lines of a block and writes a column of it, in three turns at most.
    let of_a_line = one.epilogue.iterations().saturating_add(2);
    let iterations = blocks.saturating_add(1).saturating_mul(lines.into()).saturating_mul(of_a_line).saturating_mul(3);
    if iterations > MAX_ITERATIONS {
        return Family::Strip.refuse("a strip is too long for one workgroup");
    }
    let effort = effort(plan, &one, blocks.saturating_add(1).saturating_mul(lines.into()));
    one.dispatches(schedule, kernel, &groups, STRIP, iterations, effort)
}

/// Effort of an invocation that writes `outputs` outputs.
fn effort(plan: &PoolPlan, one: &OnePass<'_>, outputs: u64) -> Effort {
    let of_an_output = if plan.indices.is_some() { 2.0 * OPS_PER_STRIP_OUTPUT } else { OPS_PER_STRIP_OUTPUT };
    let operations = outputs as f64 * (of_an_output + of_an_index(plan, &one.epilogue));
    Effort { operations, ..Effort::default() }
}

/// Whether large windows, none of them empty, move by one element along lines and columns.
fn slides(plan: &PoolPlan, windows: &[uniform::Axis; 3], pass: &Pass) -> bool {
    let [depth, rows, last] = &pass.axes;
    let by_one = windows.iter().all(|axis| [axis.kind, axis.stride, axis.dilation] == [FORMULA, 1, 1]);
    let large = windows[1..].iter().all(|axis| EXTENTS.contains(&axis.kernel));
    !plan.has_empty_windows()
        && by_one
        && large
        && depth.is_plain()
        && [rows, last].iter().all(|axis| axis.output >= FEWEST)
}

/// `[channels whose elements share words, strips for them]`, of which the strips divide those of a workgroup; `None`
/// where words of Y have elements of two lines, or where sliding along one axis at a time is faster: it computes four
/// channels at once, and fewer keys of 64 bits. AMD, 13x13: 2.7 and 4.5 copies for u8 and f16 in NHWC, 10.7 and 7.5 by
/// strips; for f64 2.6 and 3.4.
fn group(context: &PoolContext<'_>, pass: &Pass) -> Option<[u32; 2]> {
    let (in_a_word, width) = (lanes(context.plan.dtype()), pass.axes[2].output);
    let shared = pass.inner > 1 && in_a_word > 1;
    let whole = width.checked_mul(pass.inner)?.is_multiple_of(in_a_word);
    let few = pass.inner <= WORKGROUP.div_euclid(STRIP) && !pass.inner.is_multiple_of(in_a_word);
    let channels = if shared { u32::try_from(pass.inner).ok()? } else { 1 };
    let fits = in_a_word == 1 || (whole && (few || !shared));
    (context.plan.dtype().bytes() <= 4 && fits).then_some([channels, channels.next_power_of_two()])
}

/// Whether all windows that reach beyond an end of a line hold the four elements before it.
fn holds_end_vectors(axis: &uniform::Axis) -> bool {
    let first = i64::from(axis.kernel).saturating_sub(axis.pad_begin.into()) >= 4;
    let last = i64::from(axis.output).saturating_sub(axis.pad_begin.into()).saturating_add(3) <= axis.input.into();
    first && last
}

/// Maxima of a strip's line in workgroup memory: nine, of which one is unused, so that neighbouring strips lie in
/// different banks; eight where a block of lines leaves no room. `beside` tells whether places stand beside keys.
fn columns_kept(beside: bool, lines: u32) -> Option<u32> {
    let words: u64 = if beside { 2 } else { 1 };
    let bytes = |columns: u32| {
        let strips = WORKGROUP.div_euclid(STRIP);
        [u64::from(lines), strips, columns.into(), words].into_iter().fold(4, u64::saturating_mul).saturating_add(8)
    };
    [9, 8].into_iter().find(|&columns| bytes(columns) <= WORKGROUP_BYTES)
}

/// The kernel of strips of `blocks` blocks; `group` has the channels whose elements share words, and the strips for
/// them, and `columns` the maxima of a strip's line in workgroup memory.
fn kernel(
    context: &PoolContext<'_>,
    one: &OnePass<'_>,
    windows: &[uniform::Axis; 3],
    blocks: u32,
    group: [u32; 2],
    columns: u32,
) -> KernelKey {
    let PoolContext { plan, activation_kind, .. } = *context;
    let (dtype, sink, last) = (plan.dtype(), PassOutput::of(plan), &windows[2]);
    let [depth, height, width] = windows.map(|axis| axis.kernel);
    let fours = one.pass.inner == 1 && last.input.is_multiple_of(4);
    let placed = plan.indices.is_some();
    // Vectors begin at multiples of four columns, and the first window of a strip does not.
    let before = if fours { last.pad_begin.wrapping_neg().rem_euclid(4) as u32 } else { 0 };
    let taps = width.saturating_add(7).saturating_add(before);
    let consts = [
        ("BLOCKS", blocks),
        ("LINES", blocks.saturating_mul(height)),
        ("LINES_BETWEEN", 1),
        ("OUTPUTS_BETWEEN", 1),
        ("OUTPUTS_ALONG", STRIP as u32),
        ("CHANNELS_INSIDE", (one.pass.inner > 1).into()),
        ("CHANNELS_ALONG", 0),
        ("INDEX_MAP", one.index_map()),
        ("SAME_PLACE", same_place(plan).into()),
        ("GROUP", group[0]),
        ("STRIPS_OF_A_GROUP", group[1]),
        ("COLUMNS", columns),
        ("DIRECT", (dtype.bytes() == 4 && !placed).into()),
        ("HELD", (!placed && holds_end_vectors(last)).into()),
        ("BEFORE", before),
        ("TAPS", if fours { taps.next_multiple_of(4) } else { taps }),
    ];
    let (of, to, loads) = (dtype.name(), sink.name(), if fours { "vectors" } else { "elements" });
    let name = format!("pool {of} to {to}, {depth}x{height}x{width}, strips of {blocks} blocks, {loads}");
    Kernel::of_pool(name, "pool_strip", plan, sink, activation_kind)
        .with(by_fours(dtype, fours))
        .with([("ABREAST", 1), ("PLACED", placed.into()), ("IN_KEYS", has_room(plan).into())])
        .constants(one.pass.consts(plan.nan_policy))
        .constants(consts)
        .constants(one.index_digits())
        .into()
}
