//! A block from X to its maxima: rows are loaded and reduced in batches, and what they complete along the other axes
//! follows at once, so that X is read and Y written all the time and not by turns.
//!
//! ```text
//! rows of X  ->  loaded, with padding  ->  maxima along rows  ->  along the next axis  ->  ..  ->  Y
//!                |________ a batch ________|                      |__ as far as rows are there __|
//! ```

use std::ops::Range;

use wgpu_pooling_plan::ExecuteError;

use super::block::Block;
use super::form::{Form, Maxima, Memory, OUTPUTS_AT_ONCE, Source, step};
use super::load::load;
use super::pool::Separable;
use super::steps::{Step, Tap};
use crate::kernels::axes::Axis;
use crate::kernels::lane::Code;
use crate::kernels::lane::Lane;
use crate::kernels::reduce;
use crate::kernels::reduce::Rows;
use crate::kernels::scratch::Scratch;
use crate::kernels::simd::SimdLevel;

/// What maxima are compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Firsts<L> {
    /// Nothing.
    None,
    /// The first elements of windows.
    OfWindows,
    /// A constant in each slot.
    Constant(L),
}

/// How a block is reduced.
pub(crate) struct Reduction<'a, L> {
    pub own: &'a Separable,
    pub simd: SimdLevel,
    /// Whether it matters if elements are NaN, or not given back by their lanes.
    pub looks: bool,
    pub firsts: Firsts<L>,
}

/// Neighbouring outputs.
pub(crate) struct Piece<'a, 'm, F: Form> {
    /// Their place in Y after the block's first output.
    pub place: usize,
    pub slots: Range<usize>,
    /// What the maxima are compared with, if they are.
    pub firsts: &'a [F::Lane],
    simd: SimdLevel,
    last: Option<&'a OuterStep<'a>>,
    rows: Source<'a, F>,
    best: &'a mut Maxima<'m, F>,
    /// The slots of this piece and others whose maxima are computed at once, and whether `best` has them.
    together: Range<usize>,
    computed: &'a mut bool,
}

impl<F: Form> Piece<'_, '_, F> {
    /// The maxima.
    pub fn best(&mut self) -> Source<'_, F> {
        let Some(last) = self.last else { return self.rows.part(self.slots.clone()) };
        if !std::mem::replace(self.computed, true) {
            last.take(self.simd, 0, &self.together, self.best.part(0..self.together.len()), self.rows);
        }
        let begin = self.slots.start - self.together.start;
        self.best.source().part(begin..begin + self.slots.len())
    }

    /// Writes the maxima, those of lanes alone.
    pub fn write(&self, lanes: &mut [F::Lane]) {
        match self.last {
            Some(last) => last.take(self.simd, 0, &self.slots, Maxima { lanes, positions: &mut [] }, self.rows),
            None => lanes.copy_from_slice(&self.rows.lanes[self.slots.clone()]),
        }
    }
}

/// A step along an outer axis.
struct OuterStep<'a> {
    step: &'a Step,
    /// The arrays that it writes, and the arrays that each of them is reduced from.
    targets: usize,
    phases: usize,
    pitch: usize,
    slot: usize,
    /// Slots that it has written.
    done: usize,
}

impl OuterStep<'_> {
    /// Reduces some slots.
    fn take<F: Form>(
        &self,
        simd: SimdLevel,
        target: usize,
        slots: &Range<usize>,
        to: Maxima<'_, F>,
        from: Source<'_, F>,
    ) {
        let at = |tap: &Tap| (target * self.phases + tap.phase) * self.pitch + tap.shift * self.slot + slots.start;
        step(simd, self.step, Rows::one(slots.len()), to, from, false, at);
    }

    /// The slots that can be written once those before `complete` are there for it to read.
    fn next(&self, complete: usize) -> Range<usize> {
        self.done..complete.saturating_sub(self.step.shift() * self.slot).max(self.done)
    }
}

/// The steps along outer axes, and how far they have come.
struct Outer<'a> {
    steps: Vec<OuterStep<'a>>,
    /// The next run of outputs, and how many of it are written.
    run: usize,
    written: usize,
}

impl<L: Lane> Reduction<'_, L> {
    /// Has all outputs of a block written in pieces. Says that there was an element that was looked for; then not all
    /// are written, and those that are may be wrong.
    pub fn run<C: Code<Lane = L>, F: Form<Lane = L>>(
        &self,
        block: &Block<'_>,
        x: &[C::Element],
        scratch: &mut Scratch,
        mut write: impl FnMut(Piece<'_, '_, F>),
    ) -> Result<bool, ExecuteError> {
        let (inner, layout) = (self.own.inner, block.layout);
        let mut memory = Memory::<F>::new(scratch, layout, self.firsts != Firsts::None)?;
        for &number in &block.padding {
            let row = &layout.rows[number];
            memory.rows[0].lanes[row.array * layout.pitch + row.slot..][..layout.row.reduced].fill(L::LOWEST);
        }
        if block.inside[inner] != (0..layout.positions[inner]) {
            memory.loaded.fill(L::LOWEST);
        }
        if let Firsts::Constant(first) = self.firsts {
            memory.firsts[..layout.lanes].fill(first);
        }
        let mut outer = self.outer(block);
        for (number, batch) in block.batches.iter().enumerate() {
            let axis = (&self.own.axes[inner], inner);
            if load::<C>(self.simd, axis, (block, &batch.rows), x, memory.loaded) && self.looks {
                return Ok(true);
            }
            self.along_rows(block, number, &mut memory);
            self.advance(block, &mut outer, batch.complete, &mut memory, &mut write);
        }
        if block.batches.is_empty() {
            self.advance(block, &mut outer, layout.lanes, &mut memory, &mut write);
        }
        Ok(false)
    }

    /// Reduces a batch of rows along themselves, and moves first elements to the slots of their windows.
    fn along_rows<F: Form<Lane = L>>(&self, block: &Block<'_>, batch: usize, memory: &mut Memory<'_, F>) {
        let Memory { loaded, wide: [wide, spare], rows: [reduced, _], firsts, .. } = memory;
        let row = &block.layout.row;
        let of_batch = &block.batches[batch].rows;
        let first = &block.layout.rows[of_batch.start];
        let (count, place) = (of_batch.len(), first.array * block.layout.pitch + first.slot);
        let rows = Rows { count, width: row.reduced, from: row.loaded, to: row.reduced };
        let mut length = count * row.loaded;
        for (number, own) in self.own.steps.iter().enumerate() {
            std::mem::swap(wide, spare);
            let source = if number == 0 { Source { lanes: loaded, positions: &[] } } else { spare.source() };
            let at = |tap: &Tap| tap.phase * row.pitch + tap.shift * row.channels;
            if number + 1 == self.own.steps.len() {
                let to = reduced.part(place..place + rows.written());
                step(self.simd, own, rows, to, source, number == 0, at);
            } else {
                // All rows as a single one: what lies between them is not read.
                length -= own.shift() * row.channels;
                step(self.simd, own, Rows::one(length), wide.part(0..length), source, number == 0, at);
            }
        }
        if self.firsts != Firsts::OfWindows {
            return;
        }
        let own = &mut firsts[place..][..rows.written()];
        reduce::copy(self.simd, rows, own, loaded);
        for &(to, from) in &block.first_elements {
            for number in 0..count {
                let (to, from) = (number * row.reduced + to, number * row.loaded + from);
                // A call to copy a single lane takes longer than the copy.
                match row.channels {
                    1 => own[to] = loaded[from],
                    channels => own[to..][..channels].copy_from_slice(&loaded[from..][..channels]),
                }
            }
        }
        let first_rows = block.first_rows(&self.own.axes[..self.own.inner]);
        let begin = first_rows.partition_point(|row| row.batch < batch);
        for own in first_rows[begin..].iter().take_while(|row| row.batch == batch) {
            firsts.copy_within(own.from..own.from + row.reduced, own.to);
        }
    }

    fn outer<'a>(&'a self, block: &Block<'_>) -> Outer<'a> {
        let mut phases: Vec<usize> = self.own.axes[..self.own.inner].iter().map(Axis::phase_count).collect();
        let step = |step: &'a Step| {
            let of_axis = std::mem::replace(&mut phases[step.axis], 1);
            let (pitch, slot) = (block.layout.pitch, block.layout.slot[step.axis]);
            OuterStep { step, targets: phases.iter().product(), phases: of_axis, pitch, slot, done: 0 }
        };
        Outer { steps: self.own.outer_steps.iter().map(step).collect(), run: 0, written: 0 }
    }

    /// Reduces the rows along the other axes, as far as they are complete.
    fn advance<F: Form<Lane = L>>(
        &self,
        block: &Block<'_>,
        outer: &mut Outer<'_>,
        mut complete: usize,
        memory: &mut Memory<'_, F>,
        write: &mut impl FnMut(Piece<'_, '_, F>),
    ) {
        let Memory { rows: [rows, spare], firsts, best, .. } = memory;
        let (mut from, mut to) = (rows, spare);
        let (last, others) = match outer.steps.split_last_mut() {
            Some((last, others)) => (Some(&*last), others),
            None => (None, &mut [][..]),
        };
        for own in others {
            let slots = own.next(complete);
            complete = slots.end;
            own.done = slots.end;
            for target in 0..own.targets {
                let begin = target * own.pitch;
                let to = to.part(begin + slots.start..begin + slots.end);
                own.take(self.simd, target, &slots, to, from.source());
            }
            // What the next step writes has been read.
            std::mem::swap(&mut from, &mut to);
        }
        let complete = last.map_or(complete, |last| last.next(complete).end);
        let (runs, run) = (&block.layout.runs, block.layout.run);
        let (mut together, mut computed) = (0..0, false);
        while let Some(own) = runs.get(outer.run) {
            let begin = own.slot + outer.written;
            let length = complete.saturating_sub(begin).min(run - outer.written).min(OUTPUTS_AT_ONCE);
            if length == 0 {
                return;
            }
            let slots = begin..begin + length;
            if slots.end > together.end {
                // With the whole runs that follow.
                let mut end = slots.end;
                let follow = runs[outer.run + 1..].iter().take_while(|next| {
                    let follows = next.slot == end && end + run <= complete.min(begin + OUTPUTS_AT_ONCE);
                    end += if follows { run } else { 0 };
                    follows
                });
                together = begin..begin + length + follow.count() * run;
                computed = false;
            }
            let firsts = if self.firsts == Firsts::None { &[] } else { &firsts[slots.clone()] };
            let (place, rows) = (own.place + outer.written, from.source());
            let (together, computed) = (together.clone(), &mut computed);
            write(Piece { place, slots, firsts, simd: self.simd, last, rows, best, together, computed });
            outer.written += length;
            if outer.written == run {
                (outer.run, outer.written) = (outer.run + 1, 0);
            }
        }
    }
}
