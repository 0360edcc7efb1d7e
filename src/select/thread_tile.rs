//! Schedules of pools with small windows: an invocation computes a thread tile of up to eight lines: four neighbouring
//! outputs of each, where lines are whole vectors or elements share words, or four channels of one output, or one
//! output.

use wgpu_pooling_plan::{DType, Layout, NanPolicy, PlanError, PoolPlan};

use super::bounds::{MAX_ITERATIONS, greatest_common_divisor};
use super::cost::{lines, of_an_index, of_vectors, tiles};
use super::epilogue::{PoolContext, ignores_from_starts, lanes};
use super::one_pass::{OnePass, positions_are_indices};
use super::partition::{Groups, same_place, unit};
use super::target::Target;
use super::tuning::cost::{
    FOURS_FACTOR, FOURS_FACTOR_OF_SOFTWARE, ONE_OUTPUT_FACTOR, SHIFTED_FACTOR, TILE_LOADS_TOGETHER, WORD_FACTOR,
};
use super::tuning::thread_tile::{
    INVOCATIONS, INVOCATIONS_OF_SOFTWARE, MOST_TAPS, MOST_TAPS_OF_A_WORD, MOST_WORDS_OF_A_LINE, MOST_WORDS_OF_LINES,
    NARROW,
};
use super::view::{FORMULA, Pass, PassAxis, only_pass};
use crate::family::Family;
use crate::kernel::{Fact, Kernel, PassOutput};
use crate::schedule::{Effort, Schedule};
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// The most taps of a window along a line, and the most lines of a window (shaders/thread_tile/taps.wgsl, tile.wgsl).
const MOST_COLUMNS: u32 = 9;
const MOST_LINES: u32 = 7;

/// The lines of a plane are below this, so that the number of a tap fits a word (shaders/thread_tile/tile.wgsl).
const MOST_NUMBERED: u64 = 1 << 28;

/// The most lines of X that a tile spans (shaders/thread_tile/tile.wgsl).
const MOST_ROWS: u32 = 13;

// The number of a tap has four bits for its column and four for its line; of its plane 28 for the line, and of a key 16
// in all, with eight for the line and the column.
const _: () = assert!(MOST_COLUMNS <= 16 && MOST_ROWS <= 16 && MOST_NUMBERED <= 1 << 28 && MOST_TAPS <= 1 << 8);

/// The most elements that a tile reads before its own vectors of a line, and behind them
/// (shaders/thread_tile/taps.wgsl).
const MOST_BEFORE: u32 = 4;
const MOST_BEHIND: u32 = 8;

/// The most elements that a tile reads of a line which is not whole words.
const MOST_SHIFTED: u32 = 28;

/// The largest stride along a line: so many vectors hold the first taps of four windows.
const MOST_STRIDE: u32 = 4;

/// Appends the dispatches to a schedule that has none.
pub(super) fn dispatches(schedule: &mut Schedule, context: &PoolContext<'_>) -> Result<(), PlanError> {
    let PoolContext { plan, limits, .. } = *context;
    let along = channels_along(plan, limits)?;
    let channels_along = along.is_some();
    let pass = along.map_or_else(|| arranged(only_pass(plan, Family::ThreadTile, limits)?, plan), Ok)?;
    let one = OnePass::new(schedule, context, pass)?;
    let windows = windows_of(plan, &one)?;
    let Some(tiles) = Tiles::of(plan, &one, windows, channels_along, limits) else {
        return Family::ThreadTile.refuse("the windows are too large");
    };
    if tiles.tile.span == Span::Word && plan.most_taps() > MOST_TAPS_OF_A_WORD {
        return Family::ThreadTile.refuse("the windows are too large for rows that are not whole words");
    }
    tiles.dispatches(schedule, context, one)
}

/// The pass of an NHWC pool whose elements are smaller than a word, whose channels are no multiple of four and whose
/// windows have stride 1 along the last axis: a line is all columns times all channels, if four outputs are a tile.
fn channels_along(plan: &PoolPlan, limits: &Target) -> Result<Option<Pass>, PlanError> {
    let channels = plan.channels as u64;
    let small = plan.dtype().bytes() < 4;
    if plan.layout() != Layout::Nhwc || channels == 1 || channels.is_multiple_of(4) || !small {
        return Ok(None);
    }
    let Pass { axes: [first, second, last], .. } = only_pass(plan, Family::ThreadTile, limits)?;
    let Some(line) = last.with_channels(channels) else {
        return Ok(None);
    };
    let pass = Pass::of(plan.batch as u64, [first, second, line], 1)?;
    let fits = of_fours(plan, &pass.axes[2]).is_some();
    Ok(Some(pass).filter(|_| fits))
}

/// The windows of a pass, if each is given by a kernel and a stride and has an element.
fn windows_of(plan: &PoolPlan, one: &OnePass<'_>) -> Result<[uniform::Axis; 3], PlanError> {
    if plan.has_empty_windows() {
        return Family::ThreadTile.refuse("a window can be empty");
    }
    if ignores_from_starts(plan) {
        return Family::ThreadTile.refuse("indices of windows of NaN follow from their begins");
    }
    let windows = one.pass.windows();
    if windows.iter().any(|axis| axis.kind != FORMULA) {
        return Family::ThreadTile.refuse("the windows are not given by a kernel and a stride");
    }
    let taps = windows.iter().fold(1, |taps: u64, axis| taps.saturating_mul(axis.kernel.into()));
    if taps > MOST_TAPS {
        return Family::ThreadTile.refuse("the windows are too large");
    }
    Ok(windows)
}

/// What a thread tile loads of a line of X.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    /// Elements before whole vectors, the elements of these vectors, and elements behind them.
    Along { before: u32, vectors: u32, behind: u32 },
    /// The elements that four windows span in a line which is not whole words. The first `before` of them can lie
    /// before the line, and those from number `behind` on behind it.
    Shifted { elements: u32, before: u32, behind: u32 },
    /// A vector of four channels for each tap.
    Channels,
    /// An element for each tap.
    One,
    /// The same, for the outputs of a word of Y, one after the other.
    Word,
}

/// The thread tile of an invocation.
struct ThreadTile {
    windows: [uniform::Axis; 3],
    span: Span,
    /// Lines of outputs.
    lines: u32,
    /// Whether channels lie inside the last axis, and whether a line holds all channels.
    inner: bool,
    channels_along: bool,
    /// Lines of the tile from one line of outputs to the next, and the step between these in lines of Y.
    lines_between: u32,
    outputs_between: u32,
}

impl ThreadTile {
    /// The lines of X that so many lines of outputs span, at one depth.
    fn rows_of(&self, lines: u32) -> u32 {
        let kernel = self.windows[1].kernel;
        lines.saturating_sub(1).saturating_mul(self.lines_between).saturating_add(kernel)
    }
}

/// A thread tile, whose kernel depends on the windows and on what it loads of a line of X.
struct Tiles {
    tile: ThreadTile,
    /// Tiles in a row, and the elements inside an axis, in tiles.
    across: u64,
    cells: u64,
}

impl Tiles {
    /// The tile, if these kernels apply.
    fn of(
        plan: &PoolPlan,
        one: &OnePass<'_>,
        windows: [uniform::Axis; 3],
        channels_along: bool,
        limits: &Target,
    ) -> Option<Tiles> {
        let [_, lines, columns] = windows.map(|axis| axis.kernel);
        let [layers, rows, axis] = &one.pass.axes;
        let numbered = layers.input.saturating_mul(rows.input) < MOST_NUMBERED;
        if lines > MOST_LINES || columns > MOST_COLUMNS || !numbered {
            return None;
        }
        let inner = one.pass.inner;
        let span = match inner {
            1 => of_fours(plan, axis),
            _ => inner.is_multiple_of(4).then_some(Span::Channels),
        };
        let span = span.unwrap_or(if plan.dtype().bytes() < 4 { Span::Word } else { Span::One });
        let lanes: u32 = if matches!(span, Span::One | Span::Word) { 1 } else { 4 };
        if !fits_a_line(plan, lanes.into(), lines) {
            return None;
        }
        let words = words(plan).saturating_mul(lanes);
        let width = axis.output;
        let (across, cells) = match span {
            Span::Along { .. } | Span::Shifted { .. } => (width.div_ceil(4), 1),
            Span::Channels => (width, inner.checked_div(4).unwrap_or(1)),
            Span::One | Span::Word => (width, inner),
        };
        // The outputs of a word share no lines.
        let shares = if span == Span::Word { (lines, 1) } else { lines_between(&windows[1], &one.pass) };
        let (lines_between, outputs_between) = shares;
        let tile =
            ThreadTile { windows, span, lines: 1, channels_along, inner: inner > 1, lines_between, outputs_between };
        let mut tiles = Tiles { tile, across, cells };
        if span != Span::Word {
            tiles.tile.lines = tiles.lines(words, &one.pass, limits);
        }
        Some(tiles)
    }

    /// Lines of outputs: the most that leave enough invocations, fit the registers of a GPU, and of which most lie in a
    /// plane. Software, 2x2s2 and 3x3s2: 3.4 and 3.9 copies with two lines, 2.6 and 3.1 with four.
    fn lines(&self, words: u32, pass: &Pass, limits: &Target) -> u32 {
        let [depths, kernel, _] = self.tile.windows.map(|axis| axis.kernel);
        let [.., height, _] = pass.axes.each_ref().map(|axis| axis.output);
        let enough = if limits.software { INVOCATIONS_OF_SOFTWARE } else { INVOCATIONS };
        let shared = self.tile.lines_between < kernel;
        // Neighbouring invocations load neighbouring vectors only along a row of tiles.
        let narrow = !shared && self.across.saturating_mul(self.cells) < NARROW;
        let half = |lines: u32| u64::from(self.tile.outputs_between).saturating_mul(lines.div_euclid(2).into());
        let fits = |&lines: &u32| {
            // The maxima of all of a tile's lines stay in registers from one depth to the next.
            let deep = if depths > 1 { lines.saturating_mul(2) } else { 0 };
            // Lines of windows that share none are all loaded before they are joined.
            let unjoined = if shared || depths > 1 { 0 } else { lines };
            let kept = self.tile.rows_of(lines).saturating_add(deep).saturating_add(unjoined);
            let good = !narrow
                && (limits.software || words.saturating_mul(kept) <= MOST_WORDS_OF_LINES)
                && height > half(lines)
                && self.invocations(pass, lines).saturating_mul(pass.planes()) >= enough;
            self.tile.rows_of(lines) <= MOST_ROWS && limits.sizes.tile_lines.map_or(good, |asked| lines <= asked)
        };
        [8, 4, 2].into_iter().find(fits).unwrap_or(1)
    }

    /// Rows of tiles in a plane of one depth.
    fn rows(&self, pass: &Pass, lines: u32) -> u64 {
        let between = u64::from(self.tile.outputs_between);
        pass.axes[1].output.div_ceil(between.saturating_mul(lines.into())).saturating_mul(between)
    }

    /// Invocations for a plane of all its depths.
    fn invocations(&self, pass: &Pass, lines: u32) -> u64 {
        let row = self.across.saturating_mul(self.cells);
        self.rows(pass, lines).saturating_mul(pass.axes[0].output).saturating_mul(row)
    }

    /// What an invocation does.
    fn effort(&self, context: &PoolContext<'_>, one: &OnePass<'_>) -> Effort {
        let PoolContext { plan, limits, .. } = *context;
        let of_fours = if limits.software { FOURS_FACTOR_OF_SOFTWARE } else { FOURS_FACTOR };
        let [depths, _, columns] = self.tile.windows.map(|axis| f64::from(axis.kernel));
        let (lanes, loads, of_a_tap, of_vectors) = match self.tile.span {
            Span::Along { vectors, .. } => (4, f64::from(vectors), of_fours, of_vectors(plan)),
            Span::Shifted { elements, .. } => {
                (4, f64::from(elements) / lanes(plan.dtype()) as f64 + 1.0, SHIFTED_FACTOR, of_vectors(plan))
            }
            Span::Channels => (4, columns, of_fours, of_vectors(plan)),
            Span::One => (1, columns, ONE_OUTPUT_FACTOR, 1.0),
            Span::Word => (lanes(plan.dtype()), columns, WORD_FACTOR, 1.0),
        };
        let pitch = lanes.saturating_mul(plan.dtype().bytes() as u64).saturating_mul(one.pass.pitch());
        let rows = depths * f64::from(self.tile.rows_of(self.tile.lines));
        let (outputs, taps) = (f64::from(self.tile.lines), of_a_tap * rows * columns);
        let of_a_lane = of_vectors * tiles(plan, outputs, taps) + outputs * of_an_index(plan, &one.epilogue);
        Effort {
            operations: lanes as f64 * of_a_lane,
            lines: rows * loads * lines(pitch),
            waits: rows * loads / TILE_LOADS_TOGETHER,
        }
    }

    fn kernel(&self, context: &PoolContext<'_>, one: &OnePass<'_>) -> KernelKey {
        let PoolContext { plan, activation_kind, .. } = *context;
        let (tile, dtype, sink, lines) = (&self.tile, plan.dtype(), PassOutput::of(plan), self.tile.lines);
        let [depth, height, width] = tile.windows.map(|axis| axis.kernel);
        let (entry, of, fours, along) = match tile.span {
            Span::Along { .. } => ("pool_thread_tile", "four outputs", true, true),
            Span::Shifted { .. } => ("pool_shared_words", "four outputs across words", false, true),
            Span::Channels => ("pool_thread_tile", "four channels", true, false),
            Span::One => ("pool_thread_tile", "one output", false, false),
            Span::Word => ("pool_words", "one output", false, false),
        };
        let placed = dtype.bytes() == 8 || plan.indices.is_some();
        let facts = [
            ("PUT_FOURS", fours.into()),
            ("ABREAST", if fours || along { 4 } else { 1 }),
            ("PLACED", placed.into()),
            ("IN_KEYS", (along && tile.windows[2].dilation == 1 && has_room(plan)).into()),
        ];
        let consts = [
            ("LINES", lines),
            ("LINES_BETWEEN", tile.lines_between),
            ("OUTPUTS_BETWEEN", tile.outputs_between),
            ("ROWS", tile.rows_of(lines)),
            ("CHANNELS_INSIDE", if tile.span == Span::Channels { 4 } else { tile.inner.into() }),
            ("OUTPUTS_ALONG", if along { 4 } else { 1 }),
            ("CHANNELS_ALONG", tile.channels_along.into()),
            ("INDEX_MAP", one.index_map()),
            ("SAME_PLACE", same_place(plan).into()),
        ];
        let of_a_line = match tile.span {
            Span::Along { before, vectors, behind } => {
                vec![
                    ("PAD_2", before),
                    ("BEHIND", behind),
                    ("SPAN", before.saturating_add(vectors).saturating_add(behind)),
                ]
            }
            Span::Shifted { elements, before, behind } => {
                vec![("BEFORE", before), ("BEHIND", behind), ("SPAN", elements)]
            }
            _ => Vec::new(),
        };
        let (from, to) = (dtype.name(), sink.name());
        let name = format!("pool {from} to {to}, {depth}x{height}x{width}, thread tile, {lines} lines of {of}");
        Kernel::of_pool(name, entry, plan, sink, activation_kind)
            .with(by_fours(dtype, fours))
            .with(facts)
            .constants(one.pass.consts(plan.nan_policy))
            .constants(consts)
            .constants(of_a_line)
            .constants(one.index_digits())
            .into()
    }

    /// Appends the dispatches to a schedule that has none.
    fn dispatches(
        &self,
        schedule: &mut Schedule,
        context: &PoolContext<'_>,
        mut one: OnePass<'_>,
    ) -> Result<(), PlanError> {
        let plan = context.plan;
        let lines = self.tile.lines;
        let key = self.kernel(context, &one);
        let rows = self.rows(&one.pass, lines);
        one.uniform.split = [self.cells, self.across, rows, one.pass.axes[0].output].map(uniform::Divisor::new);
        let in_a_word = lanes(plan.dtype());
        let (groups, outputs) = if self.tile.span == Span::Word {
            (Groups::of(in_a_word, plan.dtype()), in_a_word)
        } else {
            let groups = Groups {
                unit: unit(plan.dtype()),
                outputs_per_group: one.pass.outputs.checked_div(one.pass.planes()).unwrap_or(1),
                invocations_per_group: self.invocations(&one.pass, lines),
                whole: true,
                taps: None,
            };
            (groups, lines.into())
        };
        // At most the second turn over all lines, then the digits of the tile's indices.
        let [depths, kernel, _] = self.tile.windows.map(|axis| u64::from(axis.kernel));
        let again = depths.saturating_mul(kernel.saturating_add(1)).saturating_add(1).saturating_mul(outputs);
        let indices = one.epilogue.iterations().saturating_mul(4).saturating_mul(outputs);
        let iterations = outputs.saturating_add(again).saturating_add(indices);
        if iterations > MAX_ITERATIONS {
            return Family::ThreadTile.refuse("a thread tile is too tall for one invocation");
        }
        let effort = self.effort(context, &one);
        one.dispatches(schedule, key, &groups, 1, iterations, effort)
    }
}

/// The facts of kernels that load four neighbouring elements at once, or one at a time, for which words of Y are
/// vectors of lanes.
pub(super) fn by_fours(dtype: DType, fours: bool) -> [Fact; 3] {
    let bytes = dtype.bytes() as u32;
    let lanes = if fours { 4 } else { 4u32.div_ceil(bytes) };
    [("FOURS", fours.into()), ("LANES", lanes), ("LANE_BYTES", bytes)]
}

/// Whether the key of an element has room for the number of a tap.
pub(super) fn has_room(plan: &PoolPlan) -> bool {
    plan.dtype().bytes() <= 2 && (!plan.dtype().is_float() || plan.nan_policy != NanPolicy::PropagateLast)
}

/// Words of registers that the maximum of an output takes: a key, or the two sides of a float, and what tells its
/// place.
fn words(plan: &PoolPlan) -> u32 {
    match plan.dtype().bytes() {
        8 => 3,
        _ if plan.indices.is_none() && !plan.dtype().is_float() => 1,
        _ => 2,
    }
}

/// Whether the maxima of so many lines of a window, for so many lanes, at most four, fit the registers.
fn fits_a_line(plan: &PoolPlan, lanes: u64, lines: u32) -> bool {
    let words = u64::from(words(plan)).saturating_mul(lanes.min(4));
    lines <= MOST_LINES && words.saturating_mul(u64::from(lines).saturating_add(1)) <= MOST_WORDS_OF_A_LINE.into()
}

/// The elements of a line that a tile of four outputs spans, if lines are whole vectors.
fn along(axis: &PassAxis) -> Option<Span> {
    let uniform::Axis { kernel: columns, stride, dilation, pad_begin: pad, .. } = axis.twin();
    let whole = axis.input.is_multiple_of(4) && axis.output.is_multiple_of(4);
    let inside = axis.output.checked_mul(stride.into()).is_some_and(|outputs| outputs <= axis.input);
    let before = u32::try_from(pad).ok().filter(|&before| before <= MOST_BEFORE)?;
    let vectors = stride.checked_mul(4).filter(|_| stride <= MOST_STRIDE)?;
    let reach = columns.saturating_sub(1).checked_mul(dilation)?.checked_add(stride.checked_mul(3)?)?.checked_add(1)?;
    let behind = reach.saturating_sub(before.checked_add(vectors)?);
    (whole && inside && behind <= MOST_BEHIND).then_some(Span::Along { before, vectors, behind })
}

/// What a tile of four neighbouring outputs loads of a line, if it can have them.
fn of_fours(plan: &PoolPlan, axis: &PassAxis) -> Option<Span> {
    along(axis).or_else(|| shifted(plan, axis))
}

/// The elements of a line that a tile of four outputs spans, if lines are not whole words.
fn shifted(plan: &PoolPlan, axis: &PassAxis) -> Option<Span> {
    let uniform::Axis { kernel: columns, stride, dilation, pad_begin: pad, .. } = axis.twin();
    let reach = columns.saturating_sub(1).checked_mul(dilation)?;
    let elements = reach.checked_add(stride.checked_mul(3)?)?.checked_add(1)?;
    let fits = elements <= MOST_SHIFTED && axis.output > 1 && plan.dtype().bytes() < 4;
    // What lies behind the line, counted from the first element of the last tile.
    let inside = i64::try_from(axis.input).ok()?.checked_add(pad.into())?;
    let begin = |output: u64| i64::from(stride).checked_mul(output.try_into().ok()?);
    let reaches = begin(axis.output.checked_sub(1)?)?.checked_add(reach.into())? >= inside;
    let behind = inside.checked_sub(begin(axis.output.checked_sub(1)?.checked_div(4)?.checked_mul(4)?)?)?;
    let behind = if reaches { u32::try_from(behind.max(0)).ok()? } else { elements };
    let before = u32::try_from(pad.max(0)).ok()?.min(elements);
    fits.then_some(Span::Shifted { elements, before, behind: behind.min(elements) })
}

/// The same pass with its axes where a tile shares most: the only axis of windows whose channels are innermost becomes
/// that of the lines, and lines that belong to one line of outputs each are numbered across planes.
fn arranged(pass: Pass, plan: &PoolPlan) -> Result<Pass, PlanError> {
    let whole = match pass.inner {
        1 => of_fours(plan, &pass.axes[2]).is_some(),
        inner => inner.is_multiple_of(4),
    };
    if plan.dtype().bytes() < 4 && !whole {
        return Ok(pass);
    }
    let planes = pass.planes();
    let Pass { axes: [depth, mut lines, mut last], inner, .. } = pass;
    let alone = [&depth, &lines].iter().all(|axis| axis.input == 1 && axis.output == 1);
    let lines_fit = u32::try_from(last.most_taps).is_ok_and(|taps| fits_a_line(plan, inner, taps));
    if inner > 1 && alone && lines_fit {
        std::mem::swap(&mut lines, &mut last);
    }
    let counted = plan.indices.is_none() || (positions_are_indices(plan) && same_place(plan));
    let all = planes.saturating_mul(depth.input);
    if counted
        && depth.is_plain()
        && all.saturating_mul(lines.input) < MOST_NUMBERED
        && let Some(lines) = lines.repeated(all)
    {
        return Pass::of(1, [PassAxis::unit(), lines, last], inner);
    }
    Pass::of(planes, [depth, lines, last], inner)
}

/// The lines of a tile from one line of outputs to the next, and the lines of Y between these. Where these share lines
/// of X, the first is the distance of their windows in dilations; otherwise it is the lines of a window. The place of
/// each line in X follows from these two (shaders/thread_tile/place.wgsl).
fn lines_between(window: &uniform::Axis, pass: &Pass) -> (u32, u32) {
    let uniform::Axis { kernel: lines, stride, dilation, .. } = *window;
    if pass.axes[1].output > 1 { between([lines, stride, dilation]) } else { (lines, 1) }
}

fn between([lines, stride, dilation]: [u32; 3]) -> (u32, u32) {
    let common = greatest_common_divisor(stride.into(), dilation.into()).max(1) as u32;
    let between = stride.checked_div(common).unwrap_or(1);
    if lines > between { (between, dilation.checked_div(common).unwrap_or(1)) } else { (lines, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of X that the shader gives to the windows of a tile (`lines_below` in shaders/thread_tile/place.wgsl):
    /// by this alone they are right for every tile.
    #[test]
    fn windows_share_all_lines_of_a_tile_or_none() {
        for kernel in 1..=MOST_LINES {
            for (stride, dilation) in (1..40).flat_map(|stride| (1..40).map(move |dilation| (stride, dilation))) {
                let (lines, outputs) = between([kernel, stride, dilation]);
                let even = lines * dilation == outputs * stride;
                assert!(even || (lines, outputs) == (kernel, 1), "{kernel}, {stride}, {dilation}: {lines}, {outputs}");
            }
        }
    }
}
