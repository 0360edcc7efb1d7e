//! Schedules of pools with small windows: blocks of neighbouring outputs, one to an invocation.

use super::cut::{Rows, unit};
use super::one_pass::OnePass;
use super::pass::{Pass, PassAxis};
use super::pool::constants;
use crate::attributes::NanPolicy;
use crate::element::DType;
use crate::error::PlanError;
use crate::kernel::{ActivationKind, Block, IndexMap, Written, keys};
use crate::plan::PoolPlan;
use crate::schedule::{Family, Limits, Schedule};
use crate::uniform;

/// The most taps that an invocation looks at, all its outputs taken together: they are written out one by one, and a longer
/// text takes longer to compile than it saves.
const MOST_TAPS: u64 = 200;

/// The most outputs of an invocation: what is known of them should stay in registers.
const MOST_OUTPUTS: u64 = 16;

/// The most outputs where a window may have no winner: the way from each to its index is then part of the text, and drivers were
/// measured to compile sixteen of them for seconds.
const MOST_OUTPUTS_WITHOUT_WINNER: u64 = 4;

/// The most taps of a window: beyond, families whose cost grows with the extents of a kernel and not with its taps win.
const MOST_TAPS_OF_WINDOW: u64 = 64;

/// Appends the dispatches to a schedule without any.
pub(super) fn dispatches(
    schedule: &mut Schedule,
    plan: &PoolPlan,
    limits: &Limits,
    activation_kind: ActivationKind,
    activation: uniform::Activation,
) -> Result<(), PlanError> {
    let one = OnePass::of(schedule, plan, limits, activation)?;
    let block = block(plan, &one)?;
    let key = keys::written(plan.dtype, one.sink(), activation_kind, Written::Block(block));
    let iterations = product(&block.window.kernel).saturating_add(one.index_iterations);
    let iterations = iterations.saturating_mul(block.outputs().into());
    let rows = rows(&one.pass, &block, plan.dtype);
    one.dispatches(schedule, key, &rows, 1, iterations)
}

/// The product of three numbers, or the largest number where 64 bits do not hold it: what is only compared with a bound.
pub(super) fn product(of: &[u32; 3]) -> u64 {
    of.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor.into()))
}

fn refuse<T>(reason: &'static str) -> Result<T, PlanError> {
    Err(PlanError::KernelDoesNotApply { family: Family::Blocked, reason })
}

/// What an invocation computes.
fn block(plan: &PoolPlan, one: &OnePass<'_>) -> Result<Block, PlanError> {
    let (pass, uniform) = (&one.pass, &one.uniform);
    if plan.has_empty_windows() {
        return refuse("a window can be empty");
    }
    if plan.later_part {
        return refuse("the windows are parts of windows");
    }
    let window = constants(uniform, plan);
    if window.kind != [0; 3] {
        return refuse("the windows are not given by a kernel and a stride");
    }
    let inner = pass.inner > 1;
    let row = Row { bytes: plan.dtype.bytes() as u64, axis: &pass.axes[2], uniform: &uniform.axes[2] };
    let width = pass.axes[2].output;
    let taps = product(&window.kernel);
    let without_winner = plan.nan_policy == NanPolicy::SeedLowest && plan.indices.is_some();
    let most_outputs = if without_winner { MOST_OUTPUTS_WITHOUT_WINNER } else { MOST_OUTPUTS };
    // Comparing elements of two words takes twice the text.
    let most_taps = if row.bytes == 8 { MOST_TAPS / 2 } else { MOST_TAPS };
    let few_taps = |outputs: &u64| {
        taps <= MOST_TAPS_OF_WINDOW && taps.saturating_mul(*outputs) <= most_taps && *outputs <= most_outputs
    };
    let rows = row.outputs().into_iter().find(few_taps).filter(|_| !inner);
    // Windows that share columns are taken several at a time, with fewer channels each.
    let most_bytes = if row.windows_overlap() { 16 } else { 32 };
    let fits = |lanes: &u64| lanes * row.bytes <= most_bytes && pass.inner.is_multiple_of(*lanes) && few_taps(lanes);
    let channels = [16, 8, 4, 2, 1].into_iter().filter(|lanes| (lanes * row.bytes).is_multiple_of(4)).find(fits);
    let (outputs, lanes) = match (rows, channels.filter(|_| inner)) {
        (Some(outputs), _) => (outputs, 1),
        (None, Some(lanes)) => (row.beside(lanes, few_taps), lanes),
        (None, None) => ((4 / row.bytes).max(1), 1),
    };
    if !few_taps(&(outputs * lanes)) {
        return refuse("the windows are too large");
    }
    let flat = rows.is_none() && channels.filter(|_| inner).is_none();
    // Dispatches are cut at multiples of powers of two.
    let exact = flat || (width.is_multiple_of(outputs) && outputs.is_power_of_two());
    let load_words = if flat {
        0
    } else if inner {
        words(lanes * row.bytes)
    } else {
        row.load_words(outputs)
    };
    let run_bytes = row.bytes * if inner && !flat { lanes } else { outputs };
    let index_map = match one.index_strides() {
        Some([index, own]) if index == own => IndexMap::Position,
        Some([index, own]) if index.spatial == own.spatial && (!inner || index.c == own.c) => IndexMap::Offset,
        _ => IndexMap::Digits,
    };
    let first_axis = pass.axes.iter().take(2).position(|axis| axis.input > 1 || axis.output > 1).unwrap_or(2);
    Ok(Block {
        window,
        axes: 3 - first_axis,
        outputs: outputs as u32,
        flat,
        lanes: lanes as u32,
        inner,
        exact,
        load_words,
        store_words: if exact { words(run_bytes) } else { 0 },
        pad: if load_words > 0 && !inner { uniform.axes[2].pad_begin as u32 } else { 0 },
        index_map,
        same_place: one.same_place(),
    })
}

/// Invocations for outputs: where blocks come out even with a row they follow each other, else every row has its own.
fn rows(pass: &Pass, block: &Block, dtype: DType) -> Rows {
    if block.exact && !(block.inner && block.outputs > 1 && !block.flat) {
        return Rows::of(block.outputs().into(), dtype);
    }
    let (width, inner) = (pass.axes[2].output, pass.inner);
    let invocations = width.div_ceil(u64::from(block.outputs)) * (inner / u64::from(block.lanes));
    Rows { unit: width * inner * unit(dtype), outputs: width * inner, invocations, whole: false }
}

/// The widest words, of one, two or four, that make up so many bytes.
pub(super) fn words(bytes: u64) -> u32 {
    [4, 2].into_iter().find(|words| bytes.is_multiple_of(words * 4)).unwrap_or(1) as u32
}

/// The last axis, where neighbours are neighbours in memory.
struct Row<'a> {
    bytes: u64,
    axis: &'a PassAxis,
    uniform: &'a uniform::Axis,
}

impl Row<'_> {
    /// Outputs that an invocation may take, the best first. A word has one owner, so elements smaller than a word are taken by
    /// whole words that do not reach into the next row.
    fn outputs(&self) -> Vec<u64> {
        let width = self.axis.output;
        let most = match self.bytes {
            1 => 16,
            2 => 8,
            4 => 8,
            _ => 4,
        };
        let least = (4 / self.bytes).max(1);
        let even = [16, 8, 4, 2].into_iter().filter(|&outputs| outputs <= most && width.is_multiple_of(outputs));
        let mut outputs: Vec<u64> = even.filter(|&outputs| outputs >= least).collect();
        if least == 1 {
            outputs.extend([4, 2, 1].map(|outputs| outputs.min(width)));
        }
        outputs
    }

    fn windows_overlap(&self) -> bool {
        self.uniform.stride <= (self.uniform.kernel - 1) * self.uniform.dilation
    }

    /// Outputs along the axis that an invocation takes beside each other's channels: more than one where their windows share
    /// columns.
    fn beside(&self, lanes: u64, few_taps: impl Fn(&u64) -> bool) -> u64 {
        let most = if self.windows_overlap() { 4 } else { 1 };
        let even = |outputs: &u64| self.axis.output.is_multiple_of(*outputs) && few_taps(&(outputs * lanes));
        [4, 2].into_iter().find(|outputs| *outputs <= most && even(outputs)).unwrap_or(1)
    }

    /// Words of a load of the columns that so many outputs step over, if all of these lie inside and begin with a word.
    fn load_words(&self, outputs: u64) -> u32 {
        let (width, stride) = (self.axis.input, u64::from(self.uniform.stride));
        let inside = self.uniform.pad_begin >= 0 && self.axis.output * stride <= width;
        if !inside || !self.axis.output.is_multiple_of(outputs) {
            return 0;
        }
        let fits = |words: &u64| {
            let bytes = words * 4;
            bytes >= self.bytes
                && (width * self.bytes).is_multiple_of(bytes)
                && (outputs * stride * self.bytes).is_multiple_of(bytes)
        };
        [4, 2, 1].into_iter().find(fits).unwrap_or(0) as u32
    }
}
