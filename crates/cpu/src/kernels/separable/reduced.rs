//! Reduces a block of X to its maxima: rows are loaded and reduced in batches, and the outputs that a batch completes
//! are written at once, so that reads of X and writes of Y overlap in time.
//!
//! ```text
//! rows of X  ->  loaded, with padding  ->  maxima along rows  ->  along the next axis  ->  ..  ->  Y
//!                |________ a batch ________|                      |__ as far as rows are there __|
//! ```

use std::ops::Range;

use wgpu_pooling_plan::ExecuteError;

use super::block::OutputBlock;
use super::form::{BlockBuffers, LaneForm, LaneSlices, Maxima, step};
use super::load::load;
use super::pool::Separable;
use super::steps::{Join, Tap};
use crate::kernels::axes::Axis;
use crate::kernels::lane::{Code, Lane};
use crate::kernels::reduce;
use crate::kernels::reduce::Rows;
use crate::kernels::scratch::ThreadMemory;
use crate::kernels::simd::SimdLevel;
use crate::kernels::tuning::separable::OUTPUTS_AT_ONCE;

/// The value that each maximum is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum FirstLanes<L> {
    /// Nothing.
    None,
    /// The first elements of windows.
    OfWindows,
    /// A constant in each slot.
    Constant(L),
}

/// How a block is reduced.
pub(crate) struct BlockReduction<'a, L> {
    pub own: &'a Separable,
    pub simd: SimdLevel,
    /// Whether to stop at a lossy element: one that is NaN, or whose lane does not decode to it.
    pub checks_lossy: bool,
    pub firsts: FirstLanes<L>,
}

/// Neighbouring outputs.
pub(crate) struct OutputPiece<'a, 'm, F: LaneForm> {
    /// Their place in Y, relative to the block's first output.
    pub place: usize,
    pub slots: Range<usize>,
    /// The lanes that the maxima are compared with, if there are any.
    pub firsts: &'a [F::Lane],
    simd: SimdLevel,
    last: Option<&'a OuterStep<'a>>,
    rows: LaneSlices<'a, F>,
    best: &'a mut Maxima<'m, F>,
    /// The slots of this piece and of others whose maxima are computed together, and whether `best` contains them.
    together: Range<usize>,
    computed: &'a mut bool,
}

impl<F: LaneForm> OutputPiece<'_, '_, F> {
    /// The maxima.
    pub fn best(&mut self) -> LaneSlices<'_, F> {
        let Some(last) = self.last else { return self.rows.part(self.slots.clone()) };
        if !std::mem::replace(self.computed, true) {
            last.reduce(self.simd, 0, &self.together, self.best.part(0..self.together.len()), self.rows);
        }
        let begin = self.slots.start - self.together.start;
        self.best.source().part(begin..begin + self.slots.len())
    }

    /// Writes the maxima without positions.
    pub fn write(&self, lanes: &mut [F::Lane]) {
        match self.last {
            Some(last) => last.reduce(self.simd, 0, &self.slots, Maxima { lanes, positions: &mut [] }, self.rows),
            None => lanes.copy_from_slice(&self.rows.lanes[self.slots.clone()]),
        }
    }
}

/// A step along an outer axis.
struct OuterStep<'a> {
    step: &'a Join,
    /// The number of arrays that it writes, and the number of arrays that each of them is reduced from.
    targets: usize,
    phases: usize,
    pitch: usize,
    slot: usize,
    /// The number of slots that it has written.
    done: usize,
}

impl OuterStep<'_> {
    /// Reduces some slots.
    fn reduce<F: LaneForm>(
        &self,
        simd: SimdLevel,
        target: usize,
        slots: &Range<usize>,
        to: Maxima<'_, F>,
        from: LaneSlices<'_, F>,
    ) {
        let at = |tap: &Tap| (target * self.phases + tap.phase) * self.pitch + tap.shift * self.slot + slots.start;
        step(simd, self.step, Rows::one(slots.len()), to, from, false, at);
    }

    /// The slots that can be written once the slots before `complete` can be read.
    fn next(&self, complete: usize) -> Range<usize> {
        self.done..complete.saturating_sub(self.step.shift() * self.slot).max(self.done)
    }
}

/// The steps along outer axes, and their progress.
struct Outer<'a> {
    steps: Vec<OuterStep<'a>>,
    /// The next run of outputs, and the number of its outputs that are written.
    run: usize,
    written: usize,
}

impl<L: Lane> BlockReduction<'_, L> {
    /// Passes all outputs of a block to `write`, in pieces. Returns true if there was a lossy element and
    /// `checks_lossy`; then the block is incomplete, and the outputs that were written may be wrong.
    pub fn run<C: Code<Lane = L>, F: LaneForm<Lane = L>>(
        &self,
        block: &OutputBlock<'_>,
        x: &[C::Element],
        scratch: &mut ThreadMemory,
        mut write: impl FnMut(OutputPiece<'_, '_, F>),
    ) -> Result<bool, ExecuteError> {
        let (inner, layout) = (self.own.inner, block.layout);
        let mut memory = BlockBuffers::<F>::new(scratch, layout, self.firsts != FirstLanes::None)?;
        for &number in &block.padding {
            let row = &layout.rows[number];
            memory.rows[0].lanes[row.array * layout.pitch + row.slot..][..layout.row.reduced].fill(L::LOWEST);
        }
        if block.inside[inner] != (0..layout.positions[inner]) {
            memory.loaded.fill(L::LOWEST);
        }
        if let FirstLanes::Constant(first) = self.firsts {
            memory.firsts[..layout.lanes].fill(first);
        }
        let mut outer = self.outer(block);
        for (number, batch) in block.batches.iter().enumerate() {
            let axis = (&self.own.axes[inner], inner);
            if load::<C>(self.simd, axis, (block, &batch.rows), x, memory.loaded) && self.checks_lossy {
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

    /// Reduces a batch of rows along themselves, and copies first elements to the slots of their windows.
    fn along_rows<F: LaneForm<Lane = L>>(
        &self,
        block: &OutputBlock<'_>,
        batch: usize,
        memory: &mut BlockBuffers<'_, F>,
    ) {
        let BlockBuffers { loaded, wide: [wide, spare], rows: [reduced, _], firsts, .. } = memory;
        let row = &block.layout.row;
        let of_batch = &block.batches[batch].rows;
        let first = &block.layout.rows[of_batch.start];
        let (count, place) = (of_batch.len(), first.array * block.layout.pitch + first.slot);
        let rows = Rows { count, width: row.reduced, read_pitch: row.loaded, write_pitch: row.reduced };
        let mut length = count * row.loaded;
        let (steps, adds) = match self.own.steps.split_last() {
            Some((last, steps)) if last.adds => (steps, Some(last)),
            _ => (&self.own.steps[..], None),
        };
        for (number, own) in steps.iter().enumerate() {
            std::mem::swap(wide, spare);
            let source = if number == 0 { LaneSlices { lanes: loaded, positions: &[] } } else { spare.source() };
            let at = |tap: &Tap| tap.phase * row.pitch + tap.shift * row.channels;
            if number + 1 == steps.len() {
                let to = reduced.part(place..place + rows.written());
                step(self.simd, own, rows, to, source, number == 0, at);
                if let Some(adds) = adds {
                    let (to, loaded) = (
                        reduced.part(place..place + rows.written()),
                        LaneSlices { lanes: &loaded[..], positions: &[] },
                    );
                    step(self.simd, adds, rows, to, loaded, true, at);
                }
            } else {
                // All rows are reduced as a single row; no step reads the lanes between them.
                length -= own.shift() * row.channels;
                step(self.simd, own, Rows::one(length), wide.part(0..length), source, number == 0, at);
            }
        }
        if self.firsts != FirstLanes::OfWindows {
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

    fn outer<'a>(&'a self, block: &OutputBlock<'_>) -> Outer<'a> {
        let mut phases: Vec<usize> = self.own.axes[..self.own.inner].iter().map(Axis::phase_count).collect();
        let step = |step: &'a Join| {
            let of_axis = std::mem::replace(&mut phases[step.axis], 1);
            let (pitch, slot) = (block.layout.pitch, block.layout.slot[step.axis]);
            OuterStep { step, targets: phases.iter().product(), phases: of_axis, pitch, slot, done: 0 }
        };
        Outer { steps: self.own.outer_steps.iter().map(step).collect(), run: 0, written: 0 }
    }

    /// Reduces the rows along the other axes, as far as they are complete.
    fn advance<F: LaneForm<Lane = L>>(
        &self,
        block: &OutputBlock<'_>,
        outer: &mut Outer<'_>,
        mut complete: usize,
        memory: &mut BlockBuffers<'_, F>,
        write: &mut impl FnMut(OutputPiece<'_, '_, F>),
    ) {
        let BlockBuffers { rows: [rows, spare], firsts, best, .. } = memory;
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
                own.reduce(self.simd, target, &slots, to, from.source());
            }
            // The next step overwrites lanes that have been read.
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
                // Whole runs that follow are computed together with this one.
                let mut end = slots.end;
                let follow = runs[outer.run + 1..].iter().take_while(|next| {
                    let follows = next.slot == end && end + run <= complete.min(begin + OUTPUTS_AT_ONCE);
                    end += if follows { run } else { 0 };
                    follows
                });
                together = begin..begin + length + follow.count() * run;
                computed = false;
            }
            let firsts = if self.firsts == FirstLanes::None { &[] } else { &firsts[slots.clone()] };
            let (place, rows) = (own.place + outer.written, from.source());
            let (together, computed) = (together.clone(), &mut computed);
            write(OutputPiece { place, slots, firsts, simd: self.simd, last, rows, best, together, computed });
            outer.written += length;
            if outer.written == run {
                (outer.run, outer.written) = (outer.run + 1, 0);
            }
        }
    }
}
