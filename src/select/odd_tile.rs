//! Schedules of pools with small windows of elements smaller than a word, whose lines are not whole words: a word of Y
//! may hold outputs of two lines.

use wgpu_pooling_plan::internal::count;
use wgpu_pooling_plan::{NanPolicy, PlanError, PoolPlan};

use super::bounds::MAX_ITERATIONS;
use super::cost::{of_an_index, of_vectors, tiles};
use super::epilogue::Wanted;
use super::one_pass::OnePass;
use super::partition::{Groups, same_place, unit};
use super::tuning::cost::OF_ODD_TILES;
use super::tuning::thread_tile::{
    INVOCATIONS, INVOCATIONS_OF_SOFTWARE, MOST_QUADS_OF_HALVES, MOST_WORDS, MOST_WORDS_OF_A_QUAD, TALLEST,
};
use crate::family::Family;
use crate::kernel::{ActivationKind, Sink, WindowConstants};
use crate::keys::{self, OddLine, OddTile, OddTileKey};
use crate::schedule::{Effort, Schedule};
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// The most padding before a line that is loaded in words.
const MOST_PAD: u32 = 4;

/// The most columns and lines of a window in rows that are not whole words (shaders/odd_tile/odd_line.wgsl).
const MOST_COLUMNS_OF_ODD_ROWS: u32 = 5;
const MOST_LINES_OF_ODD_ROWS: u32 = 5;

/// Planes per group: the invocations at the ends of a group's rows are numbered consecutively, so that few waves mix
/// them with invocations inside rows (`PLANES` in shaders/odd_tile/odd_tile.wgsl).
const PLANES_OF_A_GROUP: u64 = 16;

/// The fewest outputs of a row that is not whole words: a word then spans at most two rows.
const NARROWEST_ODD_ROW: u32 = 5;

/// Appends the dispatches to a schedule that has none.
pub(super) fn dispatches(
    schedule: &mut Schedule,
    wanted: &Wanted<'_>,
    mut one: OnePass<'_>,
    tile: &OddTile,
) -> Result<(), PlanError> {
    let Wanted { plan, limits, activation_kind, .. } = *wanted;
    let key = tile.key(plan, &one, activation_kind);
    let [depth, height, width] = [0, 1, 2].map(|axis: usize| one.pass.axes.get(axis).map_or(1, |axis| axis.output));
    let across = width.div_ceil(tile.across.into());
    let outer = one.pass.outputs.checked_div(depth.saturating_mul(height).saturating_mul(width)).unwrap_or(0);
    let tile_rows = |lines: u64| height.div_ceil(lines).saturating_mul(depth);
    let invocations = |lines: u64| tile_rows(lines).saturating_mul(across);
    let lines = if tile.shares_lines() {
        // The tallest tile that leaves enough invocations, shortened so that all tiles have about the same height.
        let enough = if limits.software { INVOCATIONS_OF_SOFTWARE } else { INVOCATIONS };
        let enough_tiles = |lines: &u64| invocations(*lines).saturating_mul(outer) >= enough;
        let tallest = [TALLEST, 8, 4, 2].into_iter().find(enough_tiles).unwrap_or(1);
        let outputs = height.max(1);
        outputs.div_ceil(outputs.div_ceil(tallest).max(1))
    } else {
        1
    };
    one.uniform.tile_lines = lines as u32;
    let groups = Groups {
        unit: unit(plan.dtype()),
        outputs_per_group: depth.saturating_mul(height).saturating_mul(width),
        invocations_per_group: invocations(lines),
        whole: true,
        taps: None,
    };
    let indices = one.epilogue.iterations().saturating_mul(tile.most_indices()).saturating_mul(lines);
    let iterations = tile.iterations(lines).saturating_add(indices);
    if iterations > MAX_ITERATIONS {
        return Family::ThreadTile.refuse("a thread tile is too tall for one invocation");
    }
    tile.split(&mut one, height.div_ceil(lines));
    let block = groups.invocations_per_group;
    let effort = tile.effort(plan, &one, lines as f64);
    one.dispatches(schedule, key, &groups, block, iterations, effort)
}

/// The thread tile of an invocation in lines that are not whole words, if the windows are small enough to assemble
/// words that cross the ends of lines. Windows below each other begin `lines_between` lines of X apart, or share no
/// line.
pub(super) fn tile_of(
    plan: &PoolPlan,
    one: &OnePass<'_>,
    window: WindowConstants,
    lines_between: u32,
) -> Option<OddTile> {
    let [outermost, _, last] = &one.pass.axes;
    let [depth, lines, columns] = window.kernel;
    let ([.., stride], [.., pad]) = (window.stride, window.pad_begin);
    let [_, line_dilation, dilation] = window.dilation;
    let width = last.output as u32;
    let in_a_word = 4u32.checked_div(plan.dtype().bytes() as u32).unwrap_or(1);
    let shares_lines = lines > lines_between;
    let flat = outermost.output == 1 && outermost.input == 1;
    let along = dilation == 1 && (1..=2).contains(&stride) && columns <= MOST_COLUMNS_OF_ODD_ROWS;
    let down = !shares_lines || (line_dilation == 1 && lines <= MOST_LINES_OF_ODD_ROWS);
    let padded = u32::try_from(pad).is_ok_and(|pad| pad <= MOST_PAD);
    // The last word of a line may hold the first outputs of the next line; their windows must end within that next
    // line.
    let head = in_a_word.saturating_sub(2).saturating_mul(stride).saturating_add(columns);
    let wide = width >= NARROWEST_ODD_ROW && (last.input as u32).saturating_add_signed(pad) >= head;
    let kept = if shares_lines { lines } else { 2 };
    let of_a_quad = words(plan, &window).saturating_mul(kept).saturating_mul(4);
    let fits = of_a_quad <= MOST_WORDS_OF_A_QUAD;
    if !((flat || depth > 1) && along && down && padded && wide && fits) || one.pass.inner != 1 {
        return None;
    }
    let most = MOST_WORDS.checked_div(of_a_quad).unwrap_or(1).clamp(2, 4);
    let halves_with_indices = plan.indices.is_some() && plan.dtype().is_float();
    let most = if halves_with_indices { most.min(MOST_QUADS_OF_HALVES) } else { most };
    // Words begin at a different column in each line, so a tile that shares lines computes more outputs than it writes.
    let owned = |quads: u32| {
        let further = if shares_lines { in_a_word.saturating_sub(1) } else { 0 };
        let outputs = quads.saturating_mul(4).saturating_sub(further);
        outputs.saturating_sub(outputs.checked_rem(in_a_word).unwrap_or(0)).max(1)
    };
    // A wide tile may reach far beyond the end of the line; a narrow one has more halo per output.
    let cost = |quads: &u32| width.div_ceil(owned(*quads)).saturating_mul(quads.saturating_mul(4).saturating_add(3));
    let quads = (2..=most).rev().min_by_key(cost).unwrap_or(2);
    Some(OddTile { window, quads, across: owned(quads), in_a_word, lines_between })
}

/// Words of registers that the accumulator of an output takes: a key, from which the element can be recovered; for the
/// SeedFirst rule the window's first element; and a position where one is needed.
fn words(plan: &PoolPlan, window: &WindowConstants) -> u32 {
    let places = u32::from(plan.indices.is_some() || window.kernel.first() != Some(&1));
    let firsts = u32::from(plan.dtype().is_float() && plan.nan_policy == NanPolicy::SeedFirst);
    firsts.saturating_add(1).saturating_add(places)
}

impl OddTile {
    /// What an invocation does.
    fn effort(&self, plan: &PoolPlan, one: &OnePass<'_>, lines: f64) -> Effort {
        let [depths, kernel, columns] = self.window.kernel.map(f64::from);
        let between = if self.shares_lines() { f64::from(self.lines_between) } else { kernel };
        let rows = depths * (between * (lines - 1.0) + kernel);
        let seen = f64::from(self.outputs_seen());
        let of_outputs = of_vectors(plan) * tiles(plan, lines, OF_ODD_TILES * rows * columns);
        let operations = seen * (of_outputs + lines * of_an_index(plan, &one.epilogue));
        Effort { operations, ..Effort::default() }
    }

    fn key(&self, plan: &PoolPlan, one: &OnePass<'_>, activation: ActivationKind) -> KernelKey {
        let odd = OddLine { x_aligned: self.begins_words(one), behind: self.behind(one) };
        keys::odd_tile(&OddTileKey {
            reduction: plan.reduction,
            dtype: plan.dtype(),
            sink: Sink::of(plan),
            activation,
            tile: self,
            odd,
            orders: self.orders(),
            index_map: one.index_map(),
            same_place: same_place(plan),
            index_digits: Some(one.epilogue.index_digits(plan)).filter(|_| one.takes_digits()),
            in_pairs: (count(plan.input_shape())).saturating_mul(plan.dtype().bytes() as u64).is_multiple_of(8),
        })
    }

    /// Whether the first window of every tile begins at a word boundary of X.
    fn begins_words(&self, one: &OnePass<'_>) -> bool {
        let of_words = |columns: u32| columns.is_multiple_of(self.in_a_word);
        let ([.., stride], [.., pad]) = (self.window.stride, self.window.pad_begin);
        // Where lines are not shared, an invocation may begin at any column of Y.
        let step = if self.shares_lines() { self.across.saturating_mul(stride) } else { stride };
        of_words(one.pass.axes[2].input as u32) && of_words(pad.unsigned_abs()) && of_words(step)
    }

    /// Sets the divisors that split an invocation's number (shaders/kernel/pool_odd_shared_lines.wgsl).
    fn split(&self, one: &mut OnePass<'_>, tile_rows: u64) {
        let width = one.pass.axes.last().map_or(1, |axis| axis.output);
        let (owned, seen) = (u64::from(self.across), self.outputs_seen());
        let begins = if self.shares_lines() { 0 } else { self.in_a_word.saturating_sub(1) };
        let inside = u64::from(seen.saturating_add(begins).saturating_add(self.behind(one)));
        let whole = width.saturating_add(owned).saturating_sub(inside).checked_div(owned).unwrap_or(0);
        let across = width.div_ceil(owned.max(1));
        let group = across.saturating_mul(tile_rows).saturating_mul(PLANES_OF_A_GROUP);
        one.uniform.split = [whole, across.saturating_sub(whole), tile_rows, group].map(uniform::Divisor::new);
    }

    /// The most indices that an invocation computes for a line of outputs.
    fn most_indices(&self) -> u64 {
        self.outputs_seen().saturating_add(self.in_a_word).into()
    }

    /// Columns by which windows reach beyond the end of a line.
    fn behind(&self, one: &OnePass<'_>) -> u32 {
        let [.., axis] = &one.pass.axes;
        let ([.., kernel], [.., stride], [.., pad]) = (self.window.kernel, self.window.stride, self.window.pad_begin);
        let reach = (axis.output as u32).saturating_sub(1).saturating_mul(stride).saturating_add(kernel);
        reach.saturating_sub((axis.input as u32).saturating_add_signed(pad))
    }

    /// The extents (depth, lines, columns) of the order numbers that keys hold to distinguish the elements of a thread
    /// tile.
    fn orders(&self) -> [u32; 3] {
        let [depth, lines, columns] = self.window.kernel;
        let [.., stride] = self.window.stride;
        let [.., dilation] = self.window.dilation;
        let height = if self.shares_lines() { TALLEST as u32 } else { 0 };
        let lines = height.saturating_mul(self.lines_between).saturating_add(lines);
        let reach = columns.saturating_sub(1).saturating_mul(dilation);
        let columns = self.across.saturating_mul(stride).saturating_add(reach);
        [depth, lines, columns]
    }

    /// Loop iterations per invocation.
    fn iterations(&self, lines: u64) -> u64 {
        let [depth, height, _] = self.window.kernel.map(u64::from);
        let between = if self.shares_lines() { u64::from(self.lines_between) } else { 1 };
        // An odd line at the end of a plane also computes the first windows of the next plane.
        let steps = lines.saturating_mul(between).saturating_add(height).saturating_add(height);
        steps.saturating_mul(depth.saturating_mul(2).saturating_add(1))
    }
}
