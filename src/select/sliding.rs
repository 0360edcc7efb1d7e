//! Schedules of pools whose windows overlap: a sliding maximum along one axis at a time, the last axis first.

use wgpu_pooling_plan::internal::device_bytes;
use wgpu_pooling_plan::{NanPolicy, PlanError, PoolPlan};

use super::bounds::{MAX_DISPATCHES, MAX_ITERATIONS, check_buffer, grid};
use super::cost::{lines, of_an_index, of_vectors, tiles};
use super::epilogue::{Epilogue, PoolContext, ignores_from_starts, lanes};
use super::partition::{bound_range, index_bytes, ranges, store, unit};
use super::slide::{Pitch, Slide};
use super::slide_layout::SlideLayout;
use super::slide_pass::SlidePass;
use super::target::Target;
use super::tuning::cost::LOADS_TOGETHER;
use super::tuning::sliding::CACHE_BYTES;
use super::view::{ALIGNMENT, ElementRange};
use crate::family::{Build, Family};
use crate::kernel::{ActivationKind, Kernel, Operand, binding};
use crate::schedule::{BoundRange, Dispatch, Effort, Schedule};
use crate::uniform::{self, Divisor};
use crate::wgsl::key::KernelKey;

/// A pass along the innermost axis loads four elements at a time, so it may read this many elements more than it needs
/// on each side. Its binding has to hold them.
const FOURS: u64 = 8;

/// Bytes of a position in scratch memory.
const PLACE_BYTES: usize = 4;

/// Bytes of a flag (one per group of planes), and of a note (one per invocation of the first pass).
const FLAG_BYTES: u64 = 4;

/// Appends the dispatches to a schedule that has none.
pub(super) fn dispatches(schedule: &mut Schedule, context: &PoolContext<'_>) -> Result<(), PlanError> {
    let PoolContext { plan, limits, activation_kind, activation } = *context;
    schedule.build = Build::Specialised;
    if ignores_from_starts(plan) {
        return Family::Sliding.refuse("indices of windows of NaN follow from their begins");
    }
    let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
    let layout = SlideLayout::of(plan, limits)?;
    let passes = SlidePass::all(plan, &layout)?;
    let ([first, ..], [.., last]) = (passes.as_slice(), passes.as_slice()) else {
        return Family::Sliding.refuse("the windows do not overlap");
    };
    let (planes, nan_starts) = (last.slide.outer, NanStarts::Untracked);
    let mut sliding = Sliding {
        plan,
        limits,
        activation_kind,
        passes: &passes,
        first,
        last,
        layout,
        epilogue,
        nan_starts,
        flag: 0,
        schedule,
    };
    let group = sliding.group()?;
    sliding.nan_starts = sliding.nan_starts(group);
    let groups = planes.div_ceil(group);
    PlanError::within("dispatches", groups, MAX_DISPATCHES)?;
    sliding.clear(groups, group)?;
    for number in 0..groups {
        let begin = number.saturating_mul(group);
        sliding.flag = if let NanStarts::PerWindow(_) = sliding.nan_starts { sliding.notes(begin) } else { number };
        sliding.group_of(ElementRange { first: begin, end: begin.saturating_add(group).min(planes) })?;
    }
    Ok(())
}

/// The method by which sliding maxima find windows that begin with a NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NanStarts {
    /// None: the NaN rule does not need these windows.
    Untracked,
    /// The first pass sets a flag if it meets a window that begins with a NaN; the last pass then reads the first
    /// elements of all windows.
    PerGroup,
    /// The first pass writes notes for the last pass, each of which tells for this many windows whether they begin with
    /// a NaN.
    PerWindow(u32),
}

/// A schedule under construction.
pub(super) struct Sliding<'a> {
    pub plan: &'a PoolPlan,
    limits: &'a Target,
    pub activation_kind: ActivationKind,
    passes: &'a [SlidePass],
    first: &'a SlidePass,
    last: &'a SlidePass,
    pub layout: SlideLayout,
    pub epilogue: Epilogue,
    pub nan_starts: NanStarts,
    /// The index of the group's flag, or of its first note.
    flag: u64,
    schedule: &'a mut Schedule,
}

/// Scratch memory between dispatches. Elements and positions are numbered by the pass that writes them.
#[derive(Debug, Clone, Copy)]
enum PassScratch {
    Elements(usize),
    Places(usize),
    Flags,
}

/// The ranges that one dispatch reads and writes, in elements.
struct SlideRanges {
    source: ElementRange,
    /// The range of X that the last pass reads for the windows' first elements.
    first: Option<ElementRange>,
    sink: ElementRange,
    store: ElementRange,
}

impl Sliding<'_> {
    /// Whether lines of X are whole vectors of lanes, and scratch memory is as packed as X.
    pub fn even_source(&self, lanes: u64) -> bool {
        !self.layout.is_apart(self.plan) && self.first.slide.source_inner().is_multiple_of(lanes)
    }

    /// Whether the last pass writes partial vectors: its lines of Y are not whole vectors of lanes, or are shorter than
    /// the rows that it reads.
    pub fn partial(&self, pass: &SlidePass) -> bool {
        let Pitch { kept, extent } = self.layout.pitch;
        pass.is_last
            && match pass.row {
                Some(_) => !pass.slide.output.is_multiple_of(pass.lanes()),
                None => pass.slide.inner != 1 && kept != extent,
            }
    }

    /// Outputs of a pass per plane: an extent outside the outermost axis along which windows slide.
    fn outputs_of_a_plane(&self, slide: &Slide) -> u64 {
        slide.outputs().checked_div(self.last.slide.outer).unwrap_or(0)
    }

    /// The passes whose results lie in scratch memory.
    fn kept_passes(&self) -> usize {
        let all = self.passes.len();
        if self.layout.is_apart(self.plan) { all } else { all.saturating_sub(1) }
    }

    /// Planes per group. Where elements share words, a group's outputs end at a multiple of a binding's alignment.
    fn group(&self) -> Result<u64, PlanError> {
        let kept = self.passes.iter().take(self.kept_passes()).map(|pass| self.outputs_of_a_plane(&pass.slide)).max();
        let planes = self.last.slide.outer;
        let bytes = kept.unwrap_or(0).saturating_mul(self.layout.bytes as u64);
        let fit = self.limits.sizes.planes.or(CACHE_BYTES.checked_div(bytes)).unwrap_or(planes);
        let multiple = if self.plan.dtype().bytes() < 4 {
            let plane = self.outputs_of_a_plane(&self.last.slide);
            let whole = unit(self.plan.dtype());
            whole >> plane.trailing_zeros().min(whole.trailing_zeros())
        } else {
            1
        };
        let group = fit.max(1).checked_next_multiple_of(multiple).unwrap_or(planes).min(planes);
        check_buffer("bytes of scratch (max_buffer_bytes)", bytes.saturating_mul(group), self.limits)?;
        Ok(group)
    }

    /// The method that finds windows whose first element is NaN, for groups of this many planes.
    fn nan_starts(&self, group: u64) -> NanStarts {
        if !self.plan.dtype().is_float() || self.plan.nan_policy != NanPolicy::SeedFirst {
            return NanStarts::Untracked;
        }
        let fit = self.notes(group).saturating_mul(FLAG_BYTES) <= self.limits.max_binding_bytes;
        if self.are_rows() && fit { NanStarts::PerWindow(self.first.run as u32) } else { NanStarts::PerGroup }
    }

    /// Whether a pass along the innermost axis is followed by passes along the axis before it, and by no others.
    fn are_rows(&self) -> bool {
        let axes = self.plan.axes.len();
        let [first, rest @ ..] = self.passes else { return false };
        // How many axes lie inside that of a pass.
        let inside = |pass: &SlidePass| axes.saturating_sub(pass.slide.axis_number()).saturating_sub(1);
        first.row.is_some() && inside(first) == 0 && !rest.is_empty() && rest.iter().all(|pass| inside(pass) == 1)
    }

    /// Notes of this many planes: one per invocation of the first pass.
    fn notes(&self, planes: u64) -> u64 {
        planes.saturating_mul(self.lines_of_a_plane(self.first)).saturating_mul(self.notes_of_a_row())
    }

    fn notes_of_a_row(&self) -> u64 {
        self.first.slide.output.div_ceil(self.first.run.max(1))
    }

    /// The outer extent of a pass per plane.
    fn lines_of_a_plane(&self, pass: &SlidePass) -> u64 {
        pass.slide.outer.checked_div(self.last.slide.outer).unwrap_or(1)
    }

    /// Reserves scratch memory for the flags or notes that the first pass leaves for the last one. The first pass
    /// writes every note; flags, one per group, are cleared here.
    fn clear(&mut self, groups: u64, group: u64) -> Result<(), PlanError> {
        match self.nan_starts {
            NanStarts::PerWindow(_) => {
                self.grown(PassScratch::Flags, self.notes(group).saturating_mul(FLAG_BYTES));
            }
            NanStarts::PerGroup if self.passes.len() > 1 => {
                let operand = self.grown(PassScratch::Flags, groups.saturating_mul(FLAG_BYTES));
                let grid = grid(groups, self.limits)?;
                let uniform = uniform::Pool { outputs: groups as u32, grid_width: grid[0], ..self.epilogue.uniform() };
                let operands = vec![BoundRange::whole(operand)];
                let key = Kernel::new("pool clear flags".to_owned(), "pool_clear_flags").into();
                self.schedule.dispatches.push(Dispatch::new(key, &uniform, operands, grid, 1));
            }
            _ => {}
        }
        Ok(())
    }

    /// The dispatches of a group of planes.
    fn group_of(&mut self, planes: ElementRange) -> Result<(), PlanError> {
        for pass in self.passes {
            self.pass(pass, planes)?;
        }
        if self.layout.is_apart(self.plan) {
            self.pack(planes)?;
        }
        Ok(())
    }

    /// Loop iterations of an invocation.
    fn iterations(&self, pass: &SlidePass) -> u64 {
        let SlidePass { slide, run, .. } = pass;
        let index = if pass.is_last { self.epilogue.iterations() } else { 0 };
        let chunks = slide.chunks.saturating_add(*run);
        let taps = chunks.saturating_mul(slide.read).saturating_add(run.saturating_mul(index));
        // The last pass may write some outputs again, after it has read the first elements of their windows.
        let axes = 8u64.saturating_mul(self.plan.axes.len() as u64);
        let again =
            run.saturating_mul(index.saturating_add(1)).saturating_mul(4).saturating_add(*run).saturating_add(axes);
        let again = if pass.is_last { again } else { 0 };
        taps.saturating_add(1).saturating_add(again)
    }

    /// What an invocation of a pass does.
    fn effort(&self, pass: &SlidePass) -> Effort {
        let run = pass.run as f64;
        let taps = (pass.slide.chunks as f64 + run) * pass.slide.read as f64;
        let of_indices = if pass.is_last { run * of_an_index(self.plan, &self.epilogue) } else { 0.0 };
        let share = if pass.lines > 1 { of_vectors(self.plan) } else { 1.0 };
        let of_a_line = share * tiles(self.plan, run, taps) + of_indices;
        let along = if pass.slide.inner > 1 { pass.lines } else { pass.run.saturating_mul(pass.slide.pitch()) };
        let pitch = along.saturating_mul(self.plan.dtype().bytes() as u64);
        let operations = pass.lines as f64 * of_a_line;
        Effort { operations, lines: taps * lines(pitch), waits: taps / LOADS_TOGETHER }
    }

    /// The dispatches of one pass over a group of planes.
    fn pass(&mut self, pass: &SlidePass, planes: ElementRange) -> Result<(), PlanError> {
        let iterations = self.iterations(pass);
        if iterations > MAX_ITERATIONS {
            return Family::Sliding.refuse("a window is too long for one invocation");
        }
        let key = self.kernel(pass);
        let of_a_plane = self.lines_of_a_plane(pass).saturating_mul(pass.runs());
        let (begin, all) = (planes.first.saturating_mul(of_a_plane), planes.count().saturating_mul(of_a_plane));
        let fit = |range: ElementRange| {
            let invocations = pass.invocations(range);
            PlanError::within("taps of a dispatch", invocations.saturating_mul(iterations), self.limits.most_taps())?;
            grid(invocations, self.limits)?;
            let bytes = self.most_bytes(pass, &self.bound(pass, range.shifted(begin)));
            PlanError::within("bytes around a window (max_binding_bytes)", bytes, self.limits.max_binding_bytes)
        };
        let parts = ranges(all, 1, fit)?;
        let mut uniform: uniform::Pool = self.uniform(&pass.slide);
        uniform.slide.runs = Divisor::new(pass.runs());
        uniform.slide.cells = Divisor::new(pass.cells());
        for range in parts {
            let invocations = pass.invocations(range);
            let bound = self.bound(pass, range.shifted(begin));
            uniform.blocks = invocations as u32;
            uniform.block_first = range.shifted(begin).first as u32;
            self.push(pass.number, &key, uniform, &bound, planes, grid(invocations, self.limits)?, iterations)?;
        }
        Ok(())
    }

    /// The uniform of a pass, without the fields that depend on the dispatch.
    fn uniform(&self, slide: &Slide) -> uniform::Pool {
        let mut uniform = self.epilogue.uniform();
        uniform.inner = slide.source_inner() as u32;
        uniform.axes[2] = slide.axis();
        for (entry, axis) in uniform.axes[3..].iter_mut().zip(self.plan.axes.iter().rev()) {
            *entry = super::slide::original(axis);
        }
        uniform.slide = slide.uniform(self.plan, self.layout.pitch);
        uniform.slide.flag = self.flag as u32;
        uniform.slide.notes = self.notes_of_a_row() as u32;
        uniform
    }

    /// The ranges that a dispatch over these blocks reads and writes.
    fn bound(&self, pass: &SlidePass, range: ElementRange) -> SlideRanges {
        let sink = pass.sink(range);
        let source = pass.source(range, &pass.slide.axis_range());
        SlideRanges {
            source: source.widened(if pass.row.is_some() { FOURS } else { 0 }),
            first: pass.is_last.then(|| pass.source(range, &pass.slide.original_range(self.plan))),
            store: if pass.is_last { store(self.plan, sink) } else { ElementRange { first: 0, end: 0 } },
            sink,
        }
    }

    /// The most bytes of any binding, including the most that aligning its ends can add.
    fn most_bytes(&self, pass: &SlidePass, bound: &SlideRanges) -> u64 {
        let bytes = |range: ElementRange, bytes: usize| range.device_bytes(bytes).saturating_add(2 * ALIGNMENT);
        let (of_x, kept) = (self.plan.dtype().bytes(), self.layout.bytes);
        // Positions have the same ranges as elements, and may take more bytes each.
        let kept = if self.plan.indices.is_some() { kept.max(PLACE_BYTES) } else { kept };
        let source = if pass.number == 0 { of_x } else { kept };
        let first = bound.first.map_or(0, |first| bytes(first, of_x));
        let ranges = [bytes(bound.source, source), bytes(bound.sink, kept), bytes(bound.store, index_bytes(self.plan))];
        ranges.into_iter().fold(first, u64::max)
    }

    /// The number of a scratch buffer: elements of even and of odd passes, then their positions, then flags or notes.
    fn scratch(&self, kept: PassScratch) -> usize {
        let elements = self.kept_passes().min(2);
        let places = if self.plan.indices.is_some() { self.passes.len().saturating_sub(1).min(2) } else { 0 };
        match kept {
            PassScratch::Elements(pass) => pass % 2,
            PassScratch::Places(pass) => elements.saturating_add(pass % 2),
            PassScratch::Flags => elements.saturating_add(places),
        }
    }

    /// The scratch buffer, grown to at least this many bytes.
    fn grown(&mut self, kept: PassScratch, bytes: u64) -> Operand {
        let number = self.scratch(kept);
        let scratch = &mut self.schedule.scratch;
        scratch.resize(scratch.len().max(number.saturating_add(1)), 4);
        scratch[number] = scratch[number].max(bytes);
        Operand::Scratch(number)
    }

    /// The bound range of a scratch buffer that holds a range of a pass's results for a group of planes, and the number
    /// of its first element. The buffer grows to hold the group.
    fn kept(&mut self, kept: PassScratch, range: ElementRange, planes: ElementRange) -> (BoundRange, u64) {
        let (number, bytes) = match kept {
            PassScratch::Elements(number) => (number, self.layout.bytes),
            PassScratch::Places(number) => (number, PLACE_BYTES),
            PassScratch::Flags => (0, PLACE_BYTES),
        };
        let of_a_plane = self.passes.get(number).map_or(0, |pass| self.outputs_of_a_plane(&pass.slide));
        let base = planes.first.saturating_mul(of_a_plane);
        let operand = self.grown(kept, device_bytes(planes.count().saturating_mul(of_a_plane), bytes));
        // The bound ranges of elements and of positions begin at the same element, whose offset is aligned in both
        // buffers.
        let aligned = self.layout.bytes.min(PLACE_BYTES);
        let local = ElementRange { first: range.first.saturating_sub(base), end: range.end.saturating_sub(base) }
            .aligned(aligned);
        (bound_range(operand, local, bytes, u64::MAX), base.saturating_add(local.first))
    }

    #[expect(clippy::too_many_arguments, reason = "a dispatch is made of these")]
    fn push(
        &mut self,
        number: usize,
        key: &KernelKey,
        mut uniform: uniform::Pool,
        bound: &SlideRanges,
        planes: ElementRange,
        grid: [u32; 3],
        iterations: u64,
    ) -> Result<(), PlanError> {
        let dtype = self.plan.dtype();
        let (x, y) = (self.plan.input_elements(), self.plan.output_elements());
        let before = number.saturating_sub(1);
        let mut operands = Vec::new();
        for one in key.bindings() {
            operands.push(match one.number {
                binding::X => {
                    let (source, first) = (bound.source, bound.first.unwrap_or(bound.source));
                    let both = ElementRange { first: source.first.min(first.first), end: source.end.max(first.end) };
                    let range = if number == 0 { both } else { first }.aligned(dtype.bytes());
                    uniform.x_first = range.first as u32;
                    bound_range(Operand::X, range, dtype.bytes(), x)
                }
                binding::Y => {
                    let range = bound.sink.aligned(dtype.bytes());
                    uniform.slide.out_first = range.first as u32;
                    bound_range(Operand::Y, range, dtype.bytes(), y)
                }
                binding::INDICES_OUT => {
                    let bytes = index_bytes(self.plan);
                    let range = bound.store.aligned(bytes);
                    uniform.store_first = range.first as u32;
                    bound_range(Operand::IndicesOut, range, bytes, y)
                }
                binding::FLAGS => BoundRange::whole(Operand::Scratch(self.scratch(PassScratch::Flags))),
                number_of_binding => {
                    let (kept, reads) = match number_of_binding {
                        binding::KEPT => (PassScratch::Elements(before), true),
                        binding::PLACES => (PassScratch::Places(before), true),
                        binding::PLACES_OUT => (PassScratch::Places(number), false),
                        _ => (PassScratch::Elements(number), false),
                    };
                    let (range, first) = self.kept(kept, if reads { bound.source } else { bound.sink }, planes);
                    *(if reads { &mut uniform.in_first } else { &mut uniform.slide.out_first }) = first as u32;
                    range
                }
            });
        }
        uniform.grid_width = grid[0];
        let effort = self.effort(&self.passes[number]);
        self.schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, iterations).with(effort));
        PlanError::within("dispatches", self.schedule.dispatches.len() as u64, MAX_DISPATCHES)
    }

    /// Packs the results of a group of planes into words of Y.
    fn pack(&mut self, planes: ElementRange) -> Result<(), PlanError> {
        let (dtype, lanes) = (self.plan.dtype(), lanes(self.plan.dtype()));
        let of_a_plane = self.outputs_of_a_plane(&self.last.slide);
        let base = planes.first.saturating_mul(of_a_plane);
        let kernel = Kernel::new(format!("pool {} pack", dtype.name()), "pool_pack");
        let key: KernelKey = kernel.of(dtype).activated(self.activation_kind).into();
        let fit = |range: ElementRange| {
            grid(range.count().div_ceil(lanes), self.limits)?;
            let bytes = range.device_bytes(self.layout.bytes);
            PlanError::within("bytes of results (max_binding_bytes)", bytes, self.limits.max_binding_bytes)
        };
        let mut uniform = self.epilogue.uniform();
        for range in ranges(planes.count().saturating_mul(of_a_plane), unit(dtype), fit)? {
            let outputs = range.shifted(base);
            let (kept, first) = self.kept(PassScratch::Elements(self.last.number), outputs, planes);
            uniform.in_first = first as u32;
            uniform.outputs = outputs.count() as u32;
            uniform.output_first = outputs.first as u32;
            let grid = grid(outputs.count().div_ceil(lanes), self.limits)?;
            uniform.grid_width = grid[0];
            let operands = vec![bound_range(Operand::Y, outputs, dtype.bytes(), self.plan.output_elements()), kept];
            self.schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, lanes));
        }
        PlanError::within("dispatches", self.schedule.dispatches.len() as u64, MAX_DISPATCHES)
    }
}
