//! Schedules of pools whose windows overlap: a sliding maximum along one axis after another, the last axis first.

use super::cut::{Cutter, part, spans, unit};
use super::form::Form;
use super::one_pass::{positions_are_indices, same_place};
use super::pass::{ALIGNMENT, Span};
use super::pool::{Finish, lanes};
use super::slide::{Slide, slides};
use super::{MAX_DISPATCHES, MAX_ITERATIONS, MAX_TAPS, check_buffer, grid, within};
use crate::attributes::NanPolicy;
use crate::error::PlanError;
use crate::kernel::keys::{self, Begins};
use crate::kernel::{ActivationKind, KernelKey, Sink, Slot, binding};
use crate::plan::{PoolPlan, count};
use crate::schedule::{Build, Dispatch, Family, Limits, Part, Schedule, device_bytes};
use crate::uniform;

/// Invocations that occupy a device: with fewer of them each computes fewer segments.
const INVOCATIONS: u64 = 1 << 12;

/// The most segments of one invocation: each more saves a part of the loads that is smaller still.
const MOST_SEGMENTS: u64 = 8;

/// Planes are taken in groups whose scratch memory stays in a cache of this size, if it can.
const CACHE_BYTES: u64 = 16 << 20;

/// Bytes of a place in scratch memory.
const PLACE_BYTES: usize = 4;

/// Rows from a window to the next one of its class above which a mask would have more rows that begin no window of the class
/// than a loop should pass.
const MOST_APART: u64 = 8;

/// Bytes of a word of the mask.
const MASK_BYTES: u64 = 4;

/// Appends the dispatches to a schedule without any.
pub(super) fn dispatches(
    schedule: &mut Schedule,
    plan: &PoolPlan,
    limits: &Limits,
    activation_kind: ActivationKind,
    activation: uniform::Activation,
) -> Result<(), PlanError> {
    schedule.build = Build::Specialised;
    if plan.later_part {
        return refuse("the windows are parts of windows");
    }
    let finish = Finish::of(plan, activation, &mut schedule.tables, limits)?;
    let form = Form::of(plan)?;
    let slides = slides(plan, form.most_chunks())?;
    let mut sliding = Sliding { plan, limits, activation_kind, slides, form, finish, flag: 0, schedule };
    let (planes, group) = (sliding.planes(), sliding.group()?);
    let groups = planes.div_ceil(group);
    within("dispatches", groups, MAX_DISPATCHES)?;
    sliding.clear(groups)?;
    for number in 0..groups {
        let begin = number.saturating_mul(group);
        sliding.flag = number;
        sliding.group_of(Span { first: begin, end: begin.saturating_add(group).min(planes) })?;
    }
    Ok(())
}

pub(super) fn refuse<T>(reason: &'static str) -> Result<T, PlanError> {
    Err(PlanError::KernelDoesNotApply { family: Family::Sliding, reason })
}

/// A schedule in the making.
struct Sliding<'a> {
    plan: &'a PoolPlan,
    limits: &'a Limits,
    activation_kind: ActivationKind,
    slides: Vec<Slide>,
    form: Form,
    finish: Finish,
    /// The number of the group.
    flag: u64,
    schedule: &'a mut Schedule,
}

/// What is kept from one dispatch to another: elements and places by the number of the pass that computes them.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Elements(usize),
    Places(usize),
    Mask,
}

/// What one dispatch reads and writes, in elements.
struct Bound {
    source: Span,
    /// What it reads of X besides.
    first: Option<Span>,
    sink: Span,
    store: Span,
}

impl Sliding<'_> {
    /// What lies outside of the outermost axis along which windows slide.
    fn planes(&self) -> u64 {
        self.slides.last().map_or(0, |slide| slide.outer)
    }

    /// Bytes of an element in scratch memory.
    fn kept_bytes(&self) -> usize {
        self.form.bytes
    }

    /// Neighbouring lines of an invocation. Elements of X that share words are read one by one unless all lines come out even
    /// with words, and so is X where it is looked at twice in one pass.
    fn lanes(&self, number: usize) -> u64 {
        let from_x = number == 0 && (self.slides.len() == 1 || self.plan.dtype.bytes() < self.form.bytes);
        self.slides.get(number).filter(|_| !from_x).map_or(1, |slide| self.form.lanes(slide))
    }

    /// Whether results are kept in a word each before they go to Y.
    fn is_apart(&self) -> bool {
        self.plan.dtype.bytes() < self.form.bytes
    }

    /// Outputs of a pass in each plane.
    fn outputs_of_a_plane(&self, slide: &Slide) -> u64 {
        slide.outputs().checked_div(self.planes()).unwrap_or(0)
    }

    /// The most outputs of a pass that are kept, in each plane.
    fn kept_of_a_plane(&self) -> u64 {
        let kept = if self.is_apart() { self.slides.len() } else { self.slides.len().saturating_sub(1) };
        self.slides.iter().take(kept).map(|slide| self.outputs_of_a_plane(slide)).max().unwrap_or(0)
    }

    /// Planes of a group. Where elements share words a group ends with a binding's alignment, and where a plane's indices are not
    /// in the order of Y with a batch item.
    fn group(&self) -> Result<u64, PlanError> {
        let (planes, kept) = (self.planes(), self.kept_of_a_plane());
        let bytes = kept.saturating_mul(self.kept_bytes() as u64);
        let fit = CACHE_BYTES.checked_div(bytes).unwrap_or(planes);
        let multiple = if self.plan.dtype.bytes() < 4 {
            let plane = self.slides.last().map_or(1, |slide| self.outputs_of_a_plane(slide));
            let whole = unit(self.plan.dtype);
            whole >> plane.trailing_zeros().min(whole.trailing_zeros())
        } else {
            1
        };
        let group = fit.max(1).checked_next_multiple_of(multiple).unwrap_or(planes).min(planes);
        check_buffer("bytes of scratch memory", bytes.saturating_mul(group), self.limits)?;
        Ok(group)
    }

    /// How windows are found that begin with a NaN. A mask is of rows along one axis and columns that one pass has computed.
    fn begins(&self) -> Begins {
        if !self.plan.dtype.is_float() || self.plan.nan_policy != NanPolicy::SeedFirst {
            return Begins::Unknown;
        }
        let [first, rest @ ..] = self.slides.as_slice() else { return Begins::Unknown };
        let one_more = rest.iter().all(|slide| slide.number() < first.number())
            && rest.iter().zip(rest.iter().skip(1)).all(|(slide, next)| slide.number() == next.number());
        let fits = self.mask_words().saturating_mul(MASK_BYTES) <= self.limits.max_binding_bytes;
        let near = self.slides.last().is_some_and(|slide| slide.apart() <= MOST_APART);
        if one_more && !rest.is_empty() && fits && near { Begins::Masked } else { Begins::Flagged }
    }

    /// Rows of a plane along the outermost axis.
    fn rows(&self) -> u64 {
        let axis = self.slides.last().and_then(|slide| self.plan.axes.get(slide.number()));
        axis.map_or(1, |axis| axis.input as u64)
    }

    /// Words of the mask of all planes.
    fn mask_words(&self) -> u64 {
        let inner = self.slides.last().map_or(1, |slide| slide.inner);
        self.planes().saturating_mul(self.rows().div_ceil(MASK_BYTES * 8)).saturating_mul(inner)
    }

    /// Clears what the first pass tells the last one: a mask, or a flag for each group.
    fn clear(&mut self, groups: u64) -> Result<(), PlanError> {
        let words = match self.begins() {
            _ if self.slides.len() < 2 => return Ok(()),
            Begins::Unknown => return Ok(()),
            Begins::Flagged => groups,
            Begins::Masked => self.mask_words(),
        };
        let slot = self.grown(Kept::Mask, words.saturating_mul(MASK_BYTES));
        let mut uniform = self.finish.uniform();
        let grid = grid(words, self.limits)?;
        uniform.outputs = words as u32;
        uniform.grid_width = grid[0];
        let uniform = bytemuck::bytes_of(&uniform).to_vec();
        let (key, slots) = (keys::clear_mask(), vec![Part::whole(slot)]);
        self.schedule.dispatches.push(Dispatch { key, uniform, slots, grid, indirect: None, iterations: 1 });
        Ok(())
    }

    /// The dispatches of a group of planes.
    fn group_of(&mut self, planes: Span) -> Result<(), PlanError> {
        for number in 0..self.slides.len() {
            let slide = self.slides[number].clone();
            let ratio = slide.outer.checked_div(self.planes()).unwrap_or(1);
            let lines = planes.count().saturating_mul(ratio).checked_div(self.lanes(number)).unwrap_or(1);
            let segments = self.segments(&slide, lines);
            // Fewer segments of an invocation are less that its dispatch has to bind.
            self.pass(number, planes, ratio, segments).or_else(|_| self.pass(number, planes, ratio, 1))?;
        }
        if self.is_apart() {
            self.pack(planes)?;
        }
        Ok(())
    }

    /// Segments of each invocation, where there are so many lines.
    fn segments(&self, slide: &Slide, outer: u64) -> u64 {
        let all = slide.segments();
        let lines = outer.saturating_mul(slide.inner).saturating_mul(slide.classes);
        let most = lines.saturating_mul(all).checked_div(INVOCATIONS).unwrap_or(1);
        let of_one = self.iterations(slide, 1, true).max(1);
        let fit = MAX_ITERATIONS.checked_div(of_one.saturating_mul(2)).unwrap_or(1);
        let most = most.min(MOST_SEGMENTS).min(fit).clamp(1, all);
        // As evenly as it goes.
        all.div_ceil(all.div_ceil(most))
    }

    /// Loop iterations of an invocation that computes so many segments.
    fn iterations(&self, slide: &Slide, segments: u64, last: bool) -> u64 {
        let index = if last { self.finish.iterations } else { 0 };
        let segment = slide.chunks.saturating_mul(slide.read.saturating_add(index)).saturating_add(1);
        let before = slide.chunks.saturating_mul(slide.read);
        // In the end some outputs may be looked at once more.
        let again = segments.saturating_mul(slide.chunks).saturating_mul(index.saturating_add(1)).saturating_mul(4);
        let axes = 8u64.saturating_mul(self.plan.axes.len() as u64);
        // A mask may have a bit for every row in every lane.
        let rows = segments.saturating_mul(slide.chunks).saturating_mul(slide.apart()).saturating_mul(4);
        let rows = if self.begins() == Begins::Masked { rows.saturating_add(slide.apart()) } else { 0 };
        let again = if last { again.saturating_add(axes).saturating_add(rows) } else { 0 };
        segments.saturating_mul(segment).saturating_add(before).saturating_add(again)
    }

    /// The dispatches of one pass over a group of planes.
    fn pass(&mut self, number: usize, planes: Span, ratio: u64, segments: u64) -> Result<(), PlanError> {
        let slide = self.slides[number].clone();
        let last = number == self.slides.len().saturating_sub(1);
        let iterations = self.iterations(&slide, segments, last);
        if iterations > MAX_ITERATIONS {
            return refuse("a window is too long for one invocation");
        }
        let key = self.key(number);
        let outer = Span { first: planes.first.saturating_mul(ratio), end: planes.end.saturating_mul(ratio) };
        let blocks = Blocks { slide: &slide, segments, lanes: self.lanes(number) };
        let (begin, all) = (outer.first.saturating_mul(blocks.runs()), outer.count().saturating_mul(blocks.runs()));
        let offset = |span: Span| Span { first: span.first.saturating_add(begin), end: span.end.saturating_add(begin) };
        let fit = |span: Span| {
            let invocations = blocks.invocations(span);
            within("taps of a dispatch", invocations.saturating_mul(iterations), MAX_TAPS)?;
            grid(invocations, self.limits)?;
            let bound = self.bound(number, &blocks, offset(span));
            within("bytes around a window", self.most_bytes(number, &bound), self.limits.max_binding_bytes)
        };
        let cuts = spans(all, 1, fit)?;
        let mut uniform: uniform::Pool = self.uniform(&slide);
        uniform.slide.segments = segments as u32;
        uniform.slide.runs = blocks.runs() as u32;
        for cut in cuts {
            let invocations = blocks.invocations(cut);
            let bound = self.bound(number, &blocks, offset(cut));
            uniform.blocks = invocations as u32;
            uniform.block_first = offset(cut).first as u32;
            self.push(number, &key, uniform, &bound, planes, grid(invocations, self.limits)?, iterations)?;
        }
        Ok(())
    }

    /// The uniform of a pass but for what depends on the dispatch.
    fn uniform(&self, slide: &Slide) -> uniform::Pool {
        let mut uniform = self.finish.uniform();
        uniform.inner = slide.inner as u32;
        uniform.axes[2] = slide.axis();
        for (slot, axis) in uniform.axes[3..].iter_mut().zip(self.plan.axes.iter().rev()) {
            *slot = super::slide::original(axis);
        }
        uniform.slide = slide.uniform(self.plan);
        uniform.slide.flag = self.flag as u32;
        uniform.slide.rows = self.rows() as u32;
        uniform.slide.row_elements = self.slides.last().map_or(1, |slide| slide.inner) as u32;
        uniform
    }

    fn key(&self, number: usize) -> KernelKey {
        let last = number == self.slides.len().saturating_sub(1);
        let sink = match &self.plan.indices {
            _ if !last => Sink::Candidates,
            None => Sink::Values,
            Some(indices) => Sink::ValuesAndIndices(indices.index_type),
        };
        let mut consts = self.slides[number].consts();
        if last {
            consts.extend(self.slides[number].first_consts(self.plan));
        }
        keys::sliding(&keys::SlidingKey {
            dtype: self.plan.dtype,
            nan_policy: self.plan.nan_policy,
            consts,
            first: number == 0,
            sink,
            lanes: self.lanes(number) as u32,
            lane_bytes: self.form.bytes,
            begins: self.begins(),
            places: self.plan.indices.is_some(),
            position_index: positions_are_indices(self.plan),
            same_place: same_place(self.plan),
            activation: self.activation_kind,
        })
    }

    /// What a dispatch over some blocks reads and writes.
    fn bound(&self, number: usize, blocks: &Blocks<'_>, span: Span) -> Bound {
        let last = number == self.slides.len().saturating_sub(1);
        let sink = blocks.sink(span);
        let cutter = Cutter { plan: self.plan, passes: &[], limits: self.limits };
        Bound {
            source: blocks.source(span, &blocks.slide.axis_span()),
            first: last.then(|| blocks.source(span, &blocks.slide.original_span(self.plan))),
            store: if last { cutter.store(sink) } else { Span { first: 0, end: 0 } },
            sink,
        }
    }

    /// The most bytes of any binding, wherever they begin.
    fn most_bytes(&self, number: usize, bound: &Bound) -> u64 {
        let bytes = |span: Span, bytes: usize| device_bytes(span.count(), bytes).saturating_add(2 * ALIGNMENT);
        // Places lie beside elements, and may take more.
        let kept = if self.plan.indices.is_some() { self.kept_bytes().max(PLACE_BYTES) } else { self.kept_bytes() };
        let source = if number == 0 { self.plan.dtype.bytes() } else { kept };
        let first = bound.first.map_or(0, |first| bytes(first, self.plan.dtype.bytes()));
        let index = self.plan.indices.as_ref().map_or(1, |indices| indices.index_type.bytes());
        let spans = [bytes(bound.source, source), bytes(bound.sink, kept), bytes(bound.store, index)];
        spans.into_iter().fold(first, u64::max)
    }

    /// A buffer of scratch memory: elements of even passes and of odd ones, then their places, then the mask.
    fn scratch(&self, kept: Kept) -> usize {
        let passes = self.slides.len().saturating_sub(1);
        let elements = if self.is_apart() { self.slides.len() } else { passes }.min(2);
        let places = if self.plan.indices.is_some() { passes.min(2) } else { 0 };
        match kept {
            Kept::Elements(pass) => pass % 2,
            Kept::Places(pass) => elements.saturating_add(pass % 2),
            Kept::Mask => elements.saturating_add(places),
        }
    }

    /// The buffer, which grows to hold so many bytes.
    fn grown(&mut self, kept: Kept, bytes: u64) -> Slot {
        let number = self.scratch(kept);
        if self.schedule.scratch.len() <= number {
            self.schedule.scratch.resize(number.saturating_add(1), 4);
        }
        if let Some(size) = self.schedule.scratch.get_mut(number) {
            *size = (*size).max(bytes);
        }
        Slot::Scratch(number)
    }

    /// A part of a buffer of scratch memory, in which a pass keeps what it computes of a group of planes, and the element that
    /// it begins with. The buffer grows to hold the group.
    fn kept(&mut self, kept: Kept, span: Span, planes: Span) -> (Part, u64) {
        let (number, bytes) = match kept {
            Kept::Elements(number) => (number, self.kept_bytes()),
            Kept::Places(number) => (number, PLACE_BYTES),
            Kept::Mask => (0, PLACE_BYTES),
        };
        let of_a_plane = self.slides.get(number).map_or(0, |slide| self.outputs_of_a_plane(slide));
        let base = planes.first.saturating_mul(of_a_plane);
        let slot = self.grown(kept, device_bytes(planes.count().saturating_mul(of_a_plane), bytes));
        // Elements and places begin with the same one, where bindings of both can.
        let aligned = self.kept_bytes().min(PLACE_BYTES);
        let local =
            Span { first: span.first.saturating_sub(base), end: span.end.saturating_sub(base) }.aligned(aligned);
        (part(slot, local, bytes, u64::MAX), base.saturating_add(local.first))
    }

    #[expect(clippy::too_many_arguments, reason = "a dispatch is made of these")]
    fn push(
        &mut self,
        number: usize,
        key: &KernelKey,
        mut uniform: uniform::Pool,
        bound: &Bound,
        planes: Span,
        grid: [u32; 3],
        iterations: u64,
    ) -> Result<(), PlanError> {
        let dtype = self.plan.dtype;
        let (x, y) = (count(&self.plan.input_shape), count(&self.plan.output_shape));
        let before = number.saturating_sub(1);
        let mut slots = Vec::new();
        for one in key.bindings() {
            slots.push(match one.number {
                binding::X => {
                    let span = if number == 0 { bound.source } else { bound.first.unwrap_or(bound.source) };
                    let span = match bound.first {
                        Some(first) if number == 0 => {
                            Span { first: span.first.min(first.first), end: span.end.max(first.end) }
                        }
                        _ => span,
                    }
                    .aligned(dtype.bytes());
                    uniform.x_first = span.first as u32;
                    part(Slot::X, span, dtype.bytes(), x)
                }
                binding::Y => {
                    let span = bound.sink.aligned(dtype.bytes());
                    uniform.slide.out_first = span.first as u32;
                    part(Slot::Y, span, dtype.bytes(), y)
                }
                binding::INDICES_OUT => {
                    let bytes = self.plan.indices.as_ref().map_or(4, |indices| indices.index_type.bytes());
                    let span = bound.store.aligned(bytes);
                    uniform.store_first = span.first as u32;
                    part(Slot::IndicesOut, span, bytes, y)
                }
                binding::MASK => Part::whole(Slot::Scratch(self.scratch(Kept::Mask))),
                number_of_binding => {
                    let (kept, reads) = match number_of_binding {
                        binding::KEPT => (Kept::Elements(before), true),
                        binding::PLACES => (Kept::Places(before), true),
                        binding::PLACES_OUT => (Kept::Places(number), false),
                        _ => (Kept::Elements(number), false),
                    };
                    let (part, first) = self.kept(kept, if reads { bound.source } else { bound.sink }, planes);
                    *(if reads { &mut uniform.in_first } else { &mut uniform.slide.out_first }) = first as u32;
                    part
                }
            });
        }
        uniform.grid_width = grid[0];
        let uniform = bytemuck::bytes_of(&uniform).to_vec();
        self.schedule.dispatches.push(Dispatch { key: key.clone(), uniform, slots, grid, indirect: None, iterations });
        within("dispatches", self.schedule.dispatches.len() as u64, MAX_DISPATCHES)
    }

    /// Puts the results of a group of planes together in words.
    fn pack(&mut self, planes: Span) -> Result<(), PlanError> {
        let (dtype, lanes) = (self.plan.dtype, lanes(self.plan.dtype));
        let number = self.slides.len().saturating_sub(1);
        let of_a_plane = self.outputs_of_a_plane(&self.slides[number]);
        let base = planes.first.saturating_mul(of_a_plane);
        let key = keys::pack(dtype, self.activation_kind);
        let of = |span: Span| Span { first: span.first.saturating_add(base), end: span.end.saturating_add(base) };
        let fit = |span: Span| {
            grid(span.count().div_ceil(lanes), self.limits)?;
            let bytes = device_bytes(span.count(), self.kept_bytes());
            within("bytes of results", bytes, self.limits.max_binding_bytes)
        };
        let mut uniform = self.finish.uniform();
        for cut in spans(planes.count().saturating_mul(of_a_plane), unit(dtype), fit)? {
            let outputs = of(cut);
            let (kept, first) = self.kept(Kept::Elements(number), outputs, planes);
            uniform.in_first = first as u32;
            uniform.outputs = outputs.count() as u32;
            uniform.output_first = outputs.first as u32;
            let grid = grid(outputs.count().div_ceil(lanes), self.limits)?;
            uniform.grid_width = grid[0];
            let slots = vec![part(Slot::Y, outputs, dtype.bytes(), count(&self.plan.output_shape)), kept];
            let (uniform, key) = (bytemuck::bytes_of(&uniform).to_vec(), key.clone());
            let dispatch = Dispatch { key, uniform, slots, grid, indirect: None, iterations: lanes };
            self.schedule.dispatches.push(dispatch);
        }
        within("dispatches", self.schedule.dispatches.len() as u64, MAX_DISPATCHES)
    }
}

/// How the lines of a pass are shared out: a block is what the invocations of all classes compute together of one run, so that
/// the outputs of blocks follow each other.
struct Blocks<'a> {
    slide: &'a Slide,
    segments: u64,
    lanes: u64,
}

impl Blocks<'_> {
    /// Blocks along the axis.
    fn runs(&self) -> u64 {
        self.slide.segments().div_ceil(self.segments)
    }

    fn invocations(&self, blocks: Span) -> u64 {
        let cells = self.slide.inner.checked_div(self.lanes).unwrap_or(1);
        blocks.count().saturating_mul(self.slide.classes).saturating_mul(cells)
    }

    /// Outer number and outputs along the axis of a block.
    fn outputs(&self, block: u64) -> (u64, Span) {
        let outer = block.checked_div(self.runs()).unwrap_or(0);
        let run = block.checked_rem(self.runs()).unwrap_or(0);
        let outputs = self.segments.saturating_mul(self.slide.chunks).saturating_mul(self.slide.classes);
        let first = run.saturating_mul(outputs).min(self.slide.output);
        (outer, Span { first, end: first.saturating_add(outputs).min(self.slide.output) })
    }

    /// The outputs of some blocks.
    fn sink(&self, blocks: Span) -> Span {
        let ((first, of_first), (last, of_last)) =
            (self.outputs(blocks.first), self.outputs(blocks.end.saturating_sub(1)));
        let number = |outer: u64, output: u64| {
            outer.saturating_mul(self.slide.output).saturating_add(output).saturating_mul(self.slide.inner)
        };
        Span { first: number(first, of_first.first), end: number(last, of_last.end) }
    }

    /// What some blocks look at of an axis.
    fn source(&self, blocks: Span, axis: &super::slide::AxisSpan) -> Span {
        let ((first, of_first), (last, of_last)) =
            (self.outputs(blocks.first), self.outputs(blocks.end.saturating_sub(1)));
        let number = |outer: u64, element: u64| {
            outer.saturating_mul(axis.input).saturating_add(element).saturating_mul(axis.inner)
        };
        let [low, high] = axis.bounds(of_first.first, of_last.end.saturating_sub(1));
        Span { first: number(first, low), end: number(last, high.saturating_add(1)) }
    }
}
