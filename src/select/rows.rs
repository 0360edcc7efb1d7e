//! Schedules of pools with small windows: neighbouring outputs and the lines below them, one walk to an invocation.

use super::MAX_ITERATIONS;
use super::cut::{Rows, unit};
use super::one_pass::OnePass;
use super::pool::constants;
use crate::attributes::NanPolicy;
use crate::error::PlanError;
use crate::kernel::{ActivationKind, WindowConstants, keys};
use crate::plan::PoolPlan;
use crate::schedule::{Family, Limits, Schedule};
use crate::uniform;

/// The most taps of a window: beyond, families whose cost grows with the extents of a kernel and not with its taps win.
const MOST_TAPS: u64 = 64;

/// The most lines of a window where lines are shared: the maxima of those before stay in registers.
const MOST_LINES: u32 = 7;

/// The most elements that a line's windows take in one by one, where neighbours share them.
const MOST_SLIDES: u32 = 8;

/// Lines of outputs that an invocation walks down, where there are enough outputs to occupy a device.
const LONGEST_WALK: u64 = 16;

/// Invocations that occupy a device.
const INVOCATIONS: u64 = 1 << 12;

/// The most taps of a window in a plane for which blocks of channels are faster, where channels come by fours.
const MOST_TAPS_OF_CHANNELS: u32 = 9;

/// The most padding before a line that is loaded by fours.
const MOST_PAD: u32 = 4;

/// Words of registers that the maxima of all lines of an invocation may take.
const MOST_WORDS: u32 = 80;

/// How the windows of a line share its elements (shaders/row/).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Sliding,
    Alternating,
    Apart,
}

/// What an invocation computes.
struct Walk {
    window: WindowConstants,
    line: Line,
    /// Groups of four outputs along the last axis.
    quads: u32,
    /// Lines of X from one output of a walk to the next, and outputs between these.
    lines_between: u32,
    outputs_between: u32,
}

/// Appends the dispatches to a schedule without any.
pub(super) fn dispatches(
    schedule: &mut Schedule,
    plan: &PoolPlan,
    limits: &Limits,
    activation_kind: ActivationKind,
    activation: uniform::Activation,
) -> Result<(), PlanError> {
    let mut one = OnePass::of(schedule, plan, limits, activation)?;
    let walk = walk(plan, &one)?;
    if !walk.pays(plan, &one) {
        return refuse("blocks of outputs load fewer words");
    }
    let key = walk.key(plan, &one, activation_kind);
    let [depth, height, width] = [0, 1, 2].map(|axis: usize| one.pass.axes.get(axis).map_or(1, |axis| axis.output));
    let across = width.div_ceil(u64::from(walk.quads).saturating_mul(4)).saturating_mul(one.pass.inner);
    let outer = one.pass.outputs.checked_div(depth.saturating_mul(height).saturating_mul(width)).unwrap_or(0);
    let walks = |lines: u64| {
        let between = u64::from(walk.outputs_between);
        height.div_ceil(between.saturating_mul(lines)).saturating_mul(between).saturating_mul(depth)
    };
    let invocations = |lines: u64| walks(lines).saturating_mul(across);
    let lines = if walk.shares_lines() {
        // As long as leaves enough invocations, and even: walks end together.
        let longest = |lines: &u64| invocations(*lines).saturating_mul(outer) >= INVOCATIONS;
        let longest = [LONGEST_WALK, 8, 4, 2].into_iter().find(longest).unwrap_or(1);
        let outputs = height.div_ceil(walk.outputs_between.into()).max(1);
        outputs.div_ceil(outputs.div_ceil(longest).max(1))
    } else {
        1
    };
    one.uniform.walk = lines as u32;
    let outputs = depth.saturating_mul(height).saturating_mul(width).saturating_mul(one.pass.inner);
    let rows = Rows { unit: unit(plan.dtype), outputs, invocations: invocations(lines), whole: true };
    let iterations =
        walk.iterations(lines).saturating_add(one.index_iterations.saturating_mul(8).saturating_mul(lines));
    if iterations > MAX_ITERATIONS {
        return refuse("a walk is too long for one invocation");
    }
    one.dispatches(schedule, key, &rows, 1, iterations)
}

fn refuse<T>(reason: &'static str) -> Result<T, PlanError> {
    Err(PlanError::KernelDoesNotApply { family: Family::Blocked, reason })
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { greatest_common_divisor(b, a.checked_rem(b).unwrap_or(0)) }
}

/// What an invocation computes.
fn walk(plan: &PoolPlan, one: &OnePass<'_>) -> Result<Walk, PlanError> {
    if plan.has_empty_windows() {
        return refuse("a window can be empty");
    }
    if plan.later_part {
        return refuse("the windows are parts of windows");
    }
    if plan.dtype.bytes() < 4 {
        return refuse("elements are smaller than a word");
    }
    let window = constants(&one.uniform, plan);
    if window.kind != [0; 3] {
        return refuse("the windows are not given by a kernel and a stride");
    }
    let taps = window.kernel.iter().fold(1, |taps: u64, &kernel| taps.saturating_mul(kernel.into()));
    let [_, lines, columns] = window.kernel;
    let [_, line_stride, stride] = window.stride;
    let [_, line_dilation, dilation] = window.dilation;
    let common = greatest_common_divisor(line_stride, line_dilation).max(1);
    let lines_between = line_stride.checked_div(common).unwrap_or(1);
    let outputs_between = line_dilation.checked_div(common).unwrap_or(1);
    let shared_lines = lines > lines_between;
    if taps > MOST_TAPS || (shared_lines && lines > MOST_LINES) {
        return refuse("the windows are too large");
    }
    let slides = dilation.checked_div(stride).unwrap_or(0).saturating_mul(columns.saturating_sub(1));
    let line = if dilation.is_multiple_of(stride) && slides <= MOST_SLIDES {
        Line::Sliding
    } else if stride == 2 && dilation == 1 && columns <= MOST_SLIDES {
        Line::Alternating
    } else {
        Line::Apart
    };
    // An element and its key, the window's first element, and a place.
    let element_words = (plan.dtype.bytes() / 4) as u32;
    let places = u32::from(plan.indices.is_some() || window.kernel.first() != Some(&1));
    let firsts = u32::from(plan.dtype.is_float() && plan.nan_policy == NanPolicy::SeedFirst);
    let words = element_words.saturating_mul(firsts.saturating_add(2)).saturating_add(places);
    let kept = if shared_lines { lines } else { 2 };
    let quads = if words.saturating_mul(kept).saturating_mul(8) <= MOST_WORDS { 2 } else { 1 };
    Ok(Walk { window, line, quads, lines_between, outputs_between })
}

impl Walk {
    fn key(&self, plan: &PoolPlan, one: &OnePass<'_>, activation: ActivationKind) -> crate::kernel::KernelKey {
        let line = match self.line {
            Line::Sliding => "row/sliding.wgsl",
            Line::Alternating => "row/alternating.wgsl",
            Line::Apart => "row/apart.wgsl",
        };
        let mut consts = self.window.consts();
        consts.extend([
            ("QUADS", self.quads),
            ("LINES_BETWEEN", self.lines_between),
            ("OUTPUTS_BETWEEN", self.outputs_between),
            ("LINES_EVEN", u32::from(self.lines_even(one))),
            ("CHANNELS_INSIDE", u32::from(one.pass.inner > 1)),
            ("INDEX_MAP", one.index_map()),
            ("SAME_PLACE", u32::from(one.same_place())),
        ]);
        let pad = self.pad_in_quads(plan, one);
        consts.extend(pad.map(|pad| ("PAD_2", pad)));
        keys::pool_rows(plan.dtype, one.sink(), activation, line, plan.nan_policy, pad.is_some(), consts)
    }

    /// Whether the walk was measured to be faster than blocks of outputs, which load whole words where rows come out even with
    /// them but share nothing between lines.
    fn pays(&self, plan: &PoolPlan, one: &OnePass<'_>) -> bool {
        let [_, lines, columns] = self.window.kernel;
        let [.., stride] = self.window.stride;
        if one.pass.inner > 1 {
            return !one.pass.inner.is_multiple_of(4) || lines.saturating_mul(columns) > MOST_TAPS_OF_CHANNELS;
        }
        self.pad_in_quads(plan, one).is_some() || (self.shares_lines() && (stride == 1 || plan.dtype.bytes() == 4))
    }

    /// Whether outputs below each other share lines of X.
    fn shares_lines(&self) -> bool {
        let [_, lines, _] = self.window.kernel;
        lines > self.lines_between
    }

    /// Whether each line of outputs has lines of X of its own, which follow each other without a gap from plane to plane.
    fn lines_even(&self, one: &OnePass<'_>) -> bool {
        let [depth, lines, _] = &one.uniform.axes[..3] else { return false };
        let flat = depth.kernel == 1 && depth.stride == 1 && depth.pad_begin == 0 && depth.input == depth.output;
        let apart = lines.pad_begin == 0 && lines.output.checked_mul(lines.stride) == Some(lines.input);
        let reach = lines.kernel.saturating_sub(1).saturating_mul(lines.dilation);
        flat && apart && reach < lines.stride
    }

    /// The padding before a line, if its elements can be loaded by fours (shaders/row/in_quads.wgsl): lines of X and Y come out
    /// even with four, and all that the outputs step over lies inside.
    fn pad_in_quads(&self, plan: &PoolPlan, one: &OnePass<'_>) -> Option<u32> {
        let axis = one.pass.axes.last()?;
        let uniform = one.uniform.axes.get(2)?;
        let even = axis.input.is_multiple_of(4) && axis.output.is_multiple_of(4);
        let inside = axis.output.checked_mul(uniform.stride.into())? <= axis.input;
        let loads = match self.line {
            Line::Sliding => uniform.stride == 1,
            Line::Alternating => true,
            Line::Apart => false,
        };
        let pad = u32::try_from(uniform.pad_begin).ok().filter(|&pad| pad <= MOST_PAD)?;
        (plan.dtype.bytes() == 4 && one.pass.inner == 1 && even && inside && loads).then_some(pad)
    }

    /// Loop iterations of an invocation.
    fn iterations(&self, lines: u64) -> u64 {
        let [depth, height, width] = self.window.kernel.map(u64::from);
        let of_line = match self.line {
            Line::Apart => width,
            Line::Sliding | Line::Alternating => 1,
        };
        let between = if self.shares_lines() { u64::from(self.lines_between) } else { 1 };
        let steps = lines.saturating_mul(between).saturating_add(height);
        steps.saturating_mul(depth.saturating_mul(of_line.saturating_add(1)).saturating_add(1))
    }
}
