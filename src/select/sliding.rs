//! Schedules of pools whose windows overlap: a sliding maximum along one axis at a time, the last axis first.

use wgpu_pooling_plan::internal::{count, device_bytes, within};
use wgpu_pooling_plan::{NanPolicy, PlanError, PoolPlan};

use super::bounds::{MAX_DISPATCHES, MAX_ITERATIONS, MAX_TAPS, check_buffer, check_elements, grid};
use super::epilogue::{Epilogue, Wanted, lanes};
use super::one_pass::{positions_are_indices, same_place};
use super::partition::{Partitioner, bound_range, ranges, unit};
use super::runs::Blocks;
use super::slide::{Pitch, Slide, refuse, slides};
use super::slide_layout::SlideLayout;
use super::tuning::sliding::CACHE_BYTES;
use super::view::{ALIGNMENT, ElementRange};
use crate::family::Build;
use crate::kernel::{ActivationKind, Operand, Sink, binding};
use crate::keys::{self, Begins, SlidingRow};
use crate::schedule::{BoundRange, Dispatch, Limits, Schedule};
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
pub(super) fn dispatches(schedule: &mut Schedule, wanted: &Wanted<'_>) -> Result<(), PlanError> {
    let Wanted { plan, limits, activation_kind, activation } = *wanted;
    schedule.build = Build::Specialised;
    if plan.later_part {
        return refuse("the windows are parts of windows");
    }
    let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
    let layout = SlideLayout::of(plan, limits)?;
    let mut slides = slides(plan, layout.most_chunks())?;
    layout.pitch.lay_out(&mut slides);
    for slide in &slides {
        check_elements("elements between two passes", slide.outputs())?;
    }
    let mut sliding =
        Sliding { plan, limits, activation_kind, slides, layout, epilogue, flag: 0, group_planes: 1, schedule };
    let (planes, group) = (sliding.planes(), sliding.group()?);
    let groups = planes.div_ceil(group);
    sliding.group_planes = group;
    within("dispatches", groups, MAX_DISPATCHES)?;
    sliding.clear(groups)?;
    for number in 0..groups {
        let begin = number.saturating_mul(group);
        sliding.flag = match sliding.begins() {
            Begins::Noted(_) => sliding.notes(begin),
            _ => number,
        };
        sliding.group_of(ElementRange { first: begin, end: begin.saturating_add(group).min(planes) })?;
    }
    Ok(())
}

/// A schedule under construction.
struct Sliding<'a> {
    plan: &'a PoolPlan,
    limits: &'a Limits,
    activation_kind: ActivationKind,
    slides: Vec<Slide>,
    layout: SlideLayout,
    epilogue: Epilogue,
    /// The index of the group's flag, or of its first note.
    flag: u64,
    /// Planes per group.
    group_planes: u64,
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
    /// The extent outside the outermost axis along which windows slide.
    fn planes(&self) -> u64 {
        self.slides.last().map_or(0, |slide| slide.outer)
    }

    /// Bytes of an element in scratch memory.
    fn kept_bytes(&self) -> usize {
        self.layout.bytes
    }

    /// Neighbouring lines per invocation: one where the lanes lie along the axis.
    fn lines(&self, number: usize) -> u64 {
        self.slides.get(number).filter(|_| self.row(number).is_none()).map_or(1, |slide| self.layout.lanes(slide))
    }

    /// Whether lines of X are whole vectors of lanes, and scratch memory is as packed as X.
    fn even_source(&self, lanes: u64) -> bool {
        let inner = self.slides.first().map_or(1, |slide| slide.source_inner());
        !self.is_apart() && inner.is_multiple_of(lanes)
    }

    /// Whether the last pass writes partial vectors: its lines of Y are not whole vectors of lanes, or are shorter than
    /// the rows that it reads.
    fn partial(&self, number: usize, lanes: u64) -> bool {
        let last = number == self.slides.len().saturating_sub(1);
        let Pitch { kept, extent } = self.layout.pitch;
        last && match self.slides.get(number) {
            Some(slide) if self.row(number).is_some() => !slide.output.is_multiple_of(lanes),
            Some(slide) if slide.inner == 1 => false,
            _ => kept != extent,
        }
    }

    /// Whether results take a word each in scratch memory before they are packed into Y.
    fn is_apart(&self) -> bool {
        self.plan.dtype().bytes() < self.layout.bytes
    }

    /// Outputs of a pass per plane.
    fn outputs_of_a_plane(&self, slide: &Slide) -> u64 {
        slide.outputs().checked_div(self.planes()).unwrap_or(0)
    }

    /// The most outputs per plane that any pass keeps in scratch memory.
    fn kept_of_a_plane(&self) -> u64 {
        let kept = if self.is_apart() { self.slides.len() } else { self.slides.len().saturating_sub(1) };
        self.slides.iter().take(kept).map(|slide| self.outputs_of_a_plane(slide)).max().unwrap_or(0)
    }

    /// Planes per group. Where elements share words, a group's outputs end at a multiple of a binding's alignment.
    fn group(&self) -> Result<u64, PlanError> {
        let (planes, kept) = (self.planes(), self.kept_of_a_plane());
        let bytes = kept.saturating_mul(self.kept_bytes() as u64);
        let fit = CACHE_BYTES.checked_div(bytes).unwrap_or(planes);
        let multiple = if self.plan.dtype().bytes() < 4 {
            let plane = self.slides.last().map_or(1, |slide| self.outputs_of_a_plane(slide));
            let whole = unit(self.plan.dtype());
            whole >> plane.trailing_zeros().min(whole.trailing_zeros())
        } else {
            1
        };
        let group = fit.max(1).checked_next_multiple_of(multiple).unwrap_or(planes).min(planes);
        check_buffer("bytes of scratch (max_buffer_bytes)", bytes.saturating_mul(group), self.limits)?;
        Ok(group)
    }

    /// The method that finds windows whose first element is NaN.
    fn begins(&self) -> Begins {
        if !self.plan.dtype().is_float() || self.plan.nan_policy != NanPolicy::SeedFirst {
            return Begins::Unknown;
        }
        let fit = self.note_bytes() <= self.limits.max_binding_bytes;
        if self.are_rows() && fit { Begins::Noted(self.run(0) as u32) } else { Begins::Flagged }
    }

    /// Whether a pass along the innermost axis is followed by passes along the axis before it, and by no others.
    fn are_rows(&self) -> bool {
        let outer = self.plan.axes.len().checked_sub(2);
        let [_, rest @ ..] = self.slides.as_slice() else { return false };
        self.row(0).is_some() && !rest.is_empty() && rest.iter().all(|slide| Some(slide.axis_number()) == outer)
    }

    /// Notes of this many planes: one per invocation of the first pass.
    fn notes(&self, planes: u64) -> u64 {
        let ratio = self.slides.first().and_then(|slide| slide.outer.checked_div(self.planes())).unwrap_or(1);
        planes.saturating_mul(ratio).saturating_mul(self.notes_of_a_row())
    }

    fn note_bytes(&self) -> u64 {
        self.notes(self.group_planes).saturating_mul(FLAG_BYTES)
    }

    fn notes_of_a_row(&self) -> u64 {
        self.slides.first().map_or(1, |slide| slide.output.div_ceil(self.run(0).max(1)))
    }

    /// Reserves scratch memory for the flags or notes that the first pass leaves for the last one. The first pass
    /// writes every note; flags, one per group, are cleared here.
    fn clear(&mut self, groups: u64) -> Result<(), PlanError> {
        let bytes = match self.begins() {
            Begins::Noted(_) => self.note_bytes(),
            Begins::Flagged if self.slides.len() > 1 => groups.saturating_mul(FLAG_BYTES),
            _ => return Ok(()),
        };
        let operand = self.grown(PassScratch::Flags, bytes);
        if let Begins::Noted(_) = self.begins() {
            return Ok(());
        }
        let mut uniform = self.epilogue.uniform();
        let grid = grid(groups, self.limits)?;
        uniform.outputs = groups as u32;
        uniform.grid_width = grid[0];
        let operands = vec![BoundRange::whole(operand)];
        self.schedule.dispatches.push(Dispatch::new(keys::clear_flags(), &uniform, operands, grid, 1));
        Ok(())
    }

    /// The dispatches of a group of planes.
    fn group_of(&mut self, planes: ElementRange) -> Result<(), PlanError> {
        for number in 0..self.slides.len() {
            let ratio = self.slides[number].outer.checked_div(self.planes()).unwrap_or(1);
            self.pass(number, planes, ratio)?;
        }
        if self.is_apart() {
            self.pack(planes)?;
        }
        Ok(())
    }

    /// How the lanes of a pass lie along its axis; `None` if they lie across it.
    fn row(&self, number: usize) -> Option<SlidingRow> {
        let slide = self.slides.get(number).filter(|_| number == 0)?;
        let left = slide.row_left()?;
        // A row of scratch memory must be a multiple of four elements.
        let whole = self.slides.len() == 1 || slide.sink_line.is_multiple_of(4);
        let fits = whole && self.layout.run(slide, 1) >= 4 && self.plan.dtype().bytes() <= 4;
        let even = slide.input.is_multiple_of(4) && !self.is_apart();
        fits.then_some(SlidingRow { left, even })
    }

    /// Windows per invocation.
    fn run(&self, number: usize) -> u64 {
        self.slides.get(number).map_or(1, |slide| self.layout.run(slide, self.lines(number)))
    }

    /// Loop iterations of an invocation that computes `run` windows.
    fn iterations(&self, slide: &Slide, run: u64, last: bool) -> u64 {
        let index = if last { self.epilogue.iterations() } else { 0 };
        let chunks = slide.chunks.saturating_add(run);
        let taps = chunks.saturating_mul(slide.read).saturating_add(run.saturating_mul(index));
        // The last pass may write some outputs again, after it has read the first elements of their windows.
        let axes = 8u64.saturating_mul(self.plan.axes.len() as u64);
        let again =
            run.saturating_mul(index.saturating_add(1)).saturating_mul(4).saturating_add(run).saturating_add(axes);
        let again = if last { again } else { 0 };
        taps.saturating_add(1).saturating_add(again)
    }

    /// The dispatches of one pass over a group of planes.
    fn pass(&mut self, number: usize, planes: ElementRange, ratio: u64) -> Result<(), PlanError> {
        let slide = self.slides[number].clone();
        let last = number == self.slides.len().saturating_sub(1);
        let run = self.run(number);
        let iterations = self.iterations(&slide, run, last);
        if iterations > MAX_ITERATIONS {
            return refuse("a window is too long for one invocation");
        }
        let key = self.key(number);
        let outer = ElementRange { first: planes.first.saturating_mul(ratio), end: planes.end.saturating_mul(ratio) };
        let blocks = Blocks { slide: &slide, run, lines: self.lines(number) };
        let (begin, all) = (outer.first.saturating_mul(blocks.runs()), outer.count().saturating_mul(blocks.runs()));
        let offset = |range: ElementRange| ElementRange {
            first: range.first.saturating_add(begin),
            end: range.end.saturating_add(begin),
        };
        let fit = |range: ElementRange| {
            let invocations = blocks.invocations(range);
            within("taps of a dispatch", invocations.saturating_mul(iterations), MAX_TAPS)?;
            grid(invocations, self.limits)?;
            let bound = self.bound(number, &blocks, offset(range));
            within(
                "bytes around a window (max_binding_bytes)",
                self.most_bytes(number, &bound),
                self.limits.max_binding_bytes,
            )
        };
        let parts = ranges(all, 1, fit)?;
        let mut uniform: uniform::Pool = self.uniform(&slide);
        uniform.slide.runs = Divisor::new(blocks.runs());
        uniform.slide.cells = Divisor::new(blocks.cells());
        for range in parts {
            let invocations = blocks.invocations(range);
            let bound = self.bound(number, &blocks, offset(range));
            uniform.blocks = invocations as u32;
            uniform.block_first = offset(range).first as u32;
            self.push(number, &key, uniform, &bound, planes, grid(invocations, self.limits)?, iterations)?;
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

    fn key(&self, number: usize) -> KernelKey {
        let last = number == self.slides.len().saturating_sub(1);
        let sink = match &self.plan.indices {
            _ if !last => Sink::Candidates,
            None => Sink::Values,
            Some(indices) => Sink::ValuesAndIndices(indices.index_type),
        };
        let slide = &self.slides[number];
        let lanes = if self.row(number).is_some() { 4 } else { self.lines(number) };
        let direct = positions_are_indices(self.plan) && same_place(self.plan);
        let by_digits = sink.index_type().is_some() && !direct;
        let index_digits = by_digits.then(|| self.epilogue.index_digits(self.plan));
        keys::sliding(&keys::SlidingKey {
            reduction: self.plan.reduction,
            dtype: self.plan.dtype(),
            nan_policy: self.plan.nan_policy,
            window: slide.window(),
            run: self.run(number) as u32,
            first_elements: last.then(|| slide.first_elements(self.plan)),
            first: number == 0,
            row: self.row(number),
            sink,
            lanes: lanes as u32,
            even_source: self.even_source(lanes),
            partial: self.partial(number, lanes),
            lane_bytes: self.layout.bytes,
            begins: self.begins(),
            places: self.plan.indices.is_some(),
            position_index: positions_are_indices(self.plan),
            same_place: same_place(self.plan),
            index_digits,
            activation: self.activation_kind,
        })
    }

    /// The ranges that a dispatch over these blocks reads and writes.
    fn bound(&self, number: usize, blocks: &Blocks<'_>, range: ElementRange) -> SlideRanges {
        let last = number == self.slides.len().saturating_sub(1);
        let sink = blocks.sink(range);
        let partitioner = Partitioner { plan: self.plan, passes: &[], limits: self.limits };
        SlideRanges {
            source: blocks.source(range, &blocks.slide.axis_range()).widened(self.row(number).map_or(0, |_| FOURS)),
            first: last.then(|| blocks.source(range, &blocks.slide.original_range(self.plan))),
            store: if last { partitioner.store(sink) } else { ElementRange { first: 0, end: 0 } },
            sink,
        }
    }

    /// The most bytes of any binding, including the most that aligning its ends can add.
    fn most_bytes(&self, number: usize, bound: &SlideRanges) -> u64 {
        let bytes =
            |range: ElementRange, bytes: usize| device_bytes(range.count(), bytes).saturating_add(2 * ALIGNMENT);
        // Positions have the same ranges as elements, and may take more bytes each.
        let kept = if self.plan.indices.is_some() { self.kept_bytes().max(PLACE_BYTES) } else { self.kept_bytes() };
        let source = if number == 0 { self.plan.dtype().bytes() } else { kept };
        let first = bound.first.map_or(0, |first| bytes(first, self.plan.dtype().bytes()));
        let index = self.plan.indices.as_ref().map_or(1, |indices| indices.index_type.bytes());
        let ranges = [bytes(bound.source, source), bytes(bound.sink, kept), bytes(bound.store, index)];
        ranges.into_iter().fold(first, u64::max)
    }

    /// The number of a scratch buffer: elements of even and of odd passes, then their positions, then flags or notes.
    fn scratch(&self, kept: PassScratch) -> usize {
        let passes = self.slides.len().saturating_sub(1);
        let elements = if self.is_apart() { self.slides.len() } else { passes }.min(2);
        let places = if self.plan.indices.is_some() { passes.min(2) } else { 0 };
        match kept {
            PassScratch::Elements(pass) => pass % 2,
            PassScratch::Places(pass) => elements.saturating_add(pass % 2),
            PassScratch::Flags => elements.saturating_add(places),
        }
    }

    /// The scratch buffer, grown to at least this many bytes.
    fn grown(&mut self, kept: PassScratch, bytes: u64) -> Operand {
        let number = self.scratch(kept);
        if self.schedule.scratch.len() <= number {
            self.schedule.scratch.resize(number.saturating_add(1), 4);
        }
        if let Some(size) = self.schedule.scratch.get_mut(number) {
            *size = (*size).max(bytes);
        }
        Operand::Scratch(number)
    }

    /// The bound range of a scratch buffer that holds a range of a pass's results for a group of planes, and the number
    /// of its first element. The buffer grows to hold the group.
    fn kept(&mut self, kept: PassScratch, range: ElementRange, planes: ElementRange) -> (BoundRange, u64) {
        let (number, bytes) = match kept {
            PassScratch::Elements(number) => (number, self.kept_bytes()),
            PassScratch::Places(number) => (number, PLACE_BYTES),
            PassScratch::Flags => (0, PLACE_BYTES),
        };
        let of_a_plane = self.slides.get(number).map_or(0, |slide| self.outputs_of_a_plane(slide));
        let base = planes.first.saturating_mul(of_a_plane);
        let operand = self.grown(kept, device_bytes(planes.count().saturating_mul(of_a_plane), bytes));
        // The bound ranges of elements and of positions begin at the same element, whose offset is aligned in both
        // buffers.
        let aligned = self.kept_bytes().min(PLACE_BYTES);
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
        let (x, y) = (count(self.plan.input_shape()), count(self.plan.output_shape()));
        let before = number.saturating_sub(1);
        let mut operands = Vec::new();
        for one in key.bindings() {
            operands.push(match one.number {
                binding::X => {
                    let range = if number == 0 { bound.source } else { bound.first.unwrap_or(bound.source) };
                    let range = match bound.first {
                        Some(first) if number == 0 => {
                            ElementRange { first: range.first.min(first.first), end: range.end.max(first.end) }
                        }
                        _ => range,
                    }
                    .aligned(dtype.bytes());
                    uniform.x_first = range.first as u32;
                    bound_range(Operand::X, range, dtype.bytes(), x)
                }
                binding::Y => {
                    let range = bound.sink.aligned(dtype.bytes());
                    uniform.slide.out_first = range.first as u32;
                    bound_range(Operand::Y, range, dtype.bytes(), y)
                }
                binding::INDICES_OUT => {
                    let bytes = self.plan.indices.as_ref().map_or(4, |indices| indices.index_type.bytes());
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
        self.schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, iterations));
        within("dispatches", self.schedule.dispatches.len() as u64, MAX_DISPATCHES)
    }

    /// Packs the results of a group of planes into words of Y.
    fn pack(&mut self, planes: ElementRange) -> Result<(), PlanError> {
        let (dtype, lanes) = (self.plan.dtype(), lanes(self.plan.dtype()));
        let number = self.slides.len().saturating_sub(1);
        let of_a_plane = self.outputs_of_a_plane(&self.slides[number]);
        let base = planes.first.saturating_mul(of_a_plane);
        let key = keys::pack(dtype, self.activation_kind);
        let of = |range: ElementRange| ElementRange {
            first: range.first.saturating_add(base),
            end: range.end.saturating_add(base),
        };
        let fit = |range: ElementRange| {
            grid(range.count().div_ceil(lanes), self.limits)?;
            let bytes = device_bytes(range.count(), self.kept_bytes());
            within("bytes of results (max_binding_bytes)", bytes, self.limits.max_binding_bytes)
        };
        let mut uniform = self.epilogue.uniform();
        for range in ranges(planes.count().saturating_mul(of_a_plane), unit(dtype), fit)? {
            let outputs = of(range);
            let (kept, first) = self.kept(PassScratch::Elements(number), outputs, planes);
            uniform.in_first = first as u32;
            uniform.outputs = outputs.count() as u32;
            uniform.output_first = outputs.first as u32;
            let grid = grid(outputs.count().div_ceil(lanes), self.limits)?;
            uniform.grid_width = grid[0];
            let operands = vec![bound_range(Operand::Y, outputs, dtype.bytes(), count(self.plan.output_shape())), kept];
            self.schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, lanes));
        }
        within("dispatches", self.schedule.dispatches.len() as u64, MAX_DISPATCHES)
    }
}
