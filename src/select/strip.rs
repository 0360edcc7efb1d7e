//! Schedules of pools whose large windows slide by one element along lines and columns, in one pass: eight invocations
//! compute a strip of Y (shaders/kernel/pool_strip.wgsl).

use wgpu_pooling_plan::{PlanError, PoolPlan};

use super::bounds::MAX_ITERATIONS;
use super::cost::of_an_index;
use super::epilogue::{Wanted, lanes};
use super::one_pass::OnePass;
use super::partition::{Groups, same_place, unit};
use super::tuning::cost::OF_STRIPS;
use super::tuning::strip::{INVOCATIONS, MOST_BLOCKS};
use super::view::{FORMULA, Pass, PassAxis, only_pass};
use crate::family::Family;
use crate::kernel::{Sink, WORKGROUP, WindowConstants};
use crate::keys::{self, StripKey};
use crate::schedule::{Effort, Schedule};
use crate::uniform;

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
pub(super) fn dispatches(schedule: &mut Schedule, wanted: &Wanted<'_>) -> Result<(), PlanError> {
    let Wanted { plan, limits, activation_kind, .. } = *wanted;
    let mut one = OnePass::new(schedule, wanted, only_pass(plan, Family::Sliding, limits)?)?;
    let window = one.pass.constants(plan.nan_policy);
    let [_, lines, _] = window.kernel;
    let [depth, rows, last] = &one.pass.axes;
    let inner = one.pass.inner;
    if !slides(plan, &window, &one.pass) {
        return Family::Sliding.refuse("the windows do not slide by one element along lines and columns");
    }
    let Some(group) = group(wanted, &one.pass) else {
        return Family::Sliding.refuse("rows are not whole words");
    };
    let beside = plan.indices.is_some() && !keys::has_room(plan.dtype(), plan.nan_policy);
    let Some(columns_kept) = columns_kept(beside, lines) else {
        return Family::Sliding.refuse("a block exceeds the memory of a workgroup");
    };
    // A strip reads one block more than it writes. AMD, 4 drawn pools with 13 to 20 lines of outputs and 24 to 31 of
    // windows: 1.2 to 1.7 times as long as along one axis at a time.
    if beside && rows.output < lines.into() {
        return Family::Sliding.refuse("most lines of a strip would be read for few outputs");
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
    let key = keys::strip(&StripKey {
        reduction: plan.reduction,
        dtype: plan.dtype(),
        sink: Sink::of(plan),
        activation: activation_kind,
        window,
        blocks: blocks as u32,
        inner: inner > 1,
        group,
        by_fours: inner == 1 && last.input.is_multiple_of(4),
        held: holds_end_vectors(&window, last),
        columns: columns_kept,
        index_map: one.index_map(),
        same_place: same_place(plan),
        index_digits: Some(one.epilogue.index_digits(plan)).filter(|_| one.takes_digits()),
    });
    let groups = Groups {
        unit: unit(plan.dtype()),
        outputs_per_group: one.pass.outputs.checked_div(one.pass.planes()).unwrap_or(1),
        invocations_per_group: of_a_plane(blocks),
        whole: true,
        taps: Some(window.kernel[2].into()),
    };
    one.uniform.split = [cells, across, strips(blocks), depths].map(uniform::Divisor::new);
    // An invocation has an eighth of the lines of a block and writes a column of it, in three turns at most.
    let of_a_line = one.epilogue.iterations().saturating_add(2);
    let iterations = blocks.saturating_add(1).saturating_mul(lines.into()).saturating_mul(of_a_line).saturating_mul(3);
    if iterations > MAX_ITERATIONS {
        return Family::Sliding.refuse("a strip is too long for one workgroup");
    }
    let effort = effort(plan, &one, blocks.saturating_add(1).saturating_mul(lines.into()));
    one.dispatches(schedule, key, &groups, STRIP, iterations, effort)
}

/// What an invocation does that writes so many outputs.
fn effort(plan: &PoolPlan, one: &OnePass<'_>, outputs: u64) -> Effort {
    let of_an_output = if plan.indices.is_some() { 2.0 * OF_STRIPS } else { OF_STRIPS };
    let operations = outputs as f64 * (of_an_output + of_an_index(plan, &one.epilogue));
    Effort { operations, ..Effort::default() }
}

/// Whether large windows, none of them empty, move by one element along lines and columns.
fn slides(plan: &PoolPlan, window: &WindowConstants, pass: &Pass) -> bool {
    let [depth, rows, last] = &pass.axes;
    let [_, lines, columns] = window.kernel;
    let by_one = window.kind == [FORMULA; 3] && window.stride == [1; 3] && window.dilation == [1; 3];
    let large = [lines, columns].iter().all(|extent| EXTENTS.contains(extent));
    !plan.has_empty_windows()
        && by_one
        && large
        && depth.is_plain()
        && [rows, last].iter().all(|axis| axis.output >= FEWEST)
}

/// The channels whose elements share words, and the strips for them, which divide those of a workgroup; `None` where
/// words of Y have elements of two lines, or where sliding along one axis at a time is faster: it computes four
/// channels at once, and fewer keys of 64 bits. AMD, 13x13: 2.7 and 4.5 copies for u8 and f16 in NHWC, 10.7 and 7.5 by
/// strips; for f64 2.6 and 3.4.
fn group(wanted: &Wanted<'_>, pass: &Pass) -> Option<[u32; 2]> {
    let (in_a_word, width) = (lanes(wanted.plan.dtype()), pass.axes[2].output);
    let shared = pass.inner > 1 && in_a_word > 1;
    let whole = width.checked_mul(pass.inner)?.is_multiple_of(in_a_word);
    let few = pass.inner <= WORKGROUP.div_euclid(STRIP) && !pass.inner.is_multiple_of(in_a_word);
    let channels = if shared { u32::try_from(pass.inner).ok()? } else { 1 };
    let fits = in_a_word == 1 || (whole && (few || !shared));
    (wanted.plan.dtype().bytes() <= 4 && fits).then_some([channels, channels.next_power_of_two()])
}

/// Whether all windows that reach beyond an end of a line hold the four elements before it.
fn holds_end_vectors(window: &WindowConstants, axis: &PassAxis) -> bool {
    let [.., columns] = window.kernel;
    let [.., pad] = window.pad_begin;
    let first = i64::from(columns).saturating_sub(pad.into()) >= 4;
    let last = (axis.output as i64).saturating_sub(pad.into()).saturating_add(3) <= axis.input as i64;
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
