//! Cutting a pass into dispatches where a buffer exceeds a binding, a grid the device, or the work a watchdog's patience.

use super::bounds::{MAX_DISPATCHES, MAX_TAPS, grid};
use super::view::{ALIGNMENT, Pass, Span};
use crate::element::DType;
use crate::error::{PlanError, within};
use crate::kernel::{Sink, Slot, Source};
use crate::plan::PoolPlan;
use crate::schedule::{Limits, Part};
use crate::tensor::{count, device_bytes};

/// Bytes of a candidate: two words.
pub(super) const CANDIDATE_BYTES: u64 = 8;

/// Outputs between two cuts: their bytes are a multiple of every device's alignment, for every element and index type.
pub(super) const OUTPUT_UNIT: u64 = 256;

/// How outputs are shared out among invocations.
pub(super) struct Rows {
    /// Outputs between two cuts.
    pub unit: u64,
    /// So many outputs
    pub outputs: u64,
    /// take so many invocations.
    pub invocations: u64,
    /// Whether these outputs stay together, so that a dispatch has the invocations of all whose outputs it has some of.
    pub whole: bool,
}

impl Rows {
    /// So many outputs to each invocation.
    pub fn of(outputs: u64, dtype: DType) -> Rows {
        Rows { unit: unit(dtype), outputs, invocations: 1, whole: false }
    }

    /// The invocations that some outputs take.
    pub fn invocations(&self, outputs: Span) -> u64 {
        let of = |outputs: u64| outputs.div_ceil(self.outputs).saturating_mul(self.invocations);
        if self.whole { of(outputs.end).saturating_sub(self.before(outputs.first)) } else { of(outputs.count()) }
    }

    /// The invocations before those of an output at which a dispatch begins.
    pub fn before(&self, first: u64) -> u64 {
        let before =
            if self.whole { first.checked_div(self.outputs).unwrap_or(0) } else { first.div_ceil(self.outputs) };
        before.saturating_mul(self.invocations)
    }
}

/// As [`OUTPUT_UNIT`] for an element type: where outputs look at much, fewer of them have to fit a binding.
pub(super) fn unit(dtype: DType) -> u64 {
    ALIGNMENT.div_ceil(dtype.bytes() as u64)
}

/// The passes of a pool and what a dispatch of them may bind.
pub(super) struct Cutter<'a> {
    pub plan: &'a PoolPlan,
    pub passes: &'a [Pass],
    pub limits: &'a Limits,
}

/// One dispatch: its outputs, and what it binds of X, of the candidates that it reads, and of the index tensor, in elements.
pub(super) struct Cut {
    pub outputs: Span,
    pub x: Span,
    pub source: Span,
    pub store: Span,
}

impl Cutter<'_> {
    /// The dispatches of a pass.
    ///
    /// # Errors
    /// [`PlanError::ExceedsLimit`] if what a few outputs look at does not fit a binding.
    pub fn cuts(&self, number: usize, sink: Sink, rows: &Rows) -> Result<Vec<Cut>, PlanError> {
        let total = self.passes[number].outputs;
        // A dispatch takes one unit of outputs, or as many as keep its taps within `MAX_TAPS`.
        let most_outputs = rows.unit.max(MAX_TAPS.checked_div(self.most_taps(number)).unwrap_or(MAX_TAPS));
        within("dispatches", total.div_ceil(most_outputs), MAX_DISPATCHES)?;
        let spans = spans(total, rows.unit, |outputs| self.fit(number, sink, rows, outputs))?;
        Ok(spans.into_iter().map(|outputs| self.cut(number, outputs)).collect())
    }

    /// What a dispatch over these outputs binds.
    fn cut(&self, number: usize, outputs: Span) -> Cut {
        let pass = &self.passes[number];
        let whole = outputs.count() == pass.outputs;
        let source = pass.source(outputs, &pass.taps());
        // An uncut pass binds its buffers whole.
        let cut = |span: Span, bytes: usize| if whole { Span { first: 0, ..span } } else { span.aligned(bytes) };
        let mut x = cut(self.x(number, outputs), self.plan.dtype().bytes());
        // Wide loads may take in elements behind the last one that counts.
        x.end = x.whole(unit(self.plan.dtype())).end.min(count(self.plan.input_shape()));
        Cut {
            outputs,
            x,
            source: cut(source, CANDIDATE_BYTES as usize),
            store: cut(self.store(outputs), self.index_bytes()),
        }
    }

    /// The elements of X that some outputs of a pass come from.
    fn x(&self, number: usize, outputs: Span) -> Span {
        let mut span = outputs;
        for pass in self.passes[..=number].iter().rev() {
            span = pass.source(span, &pass.taps());
        }
        span
    }

    /// Bytes of an index; of nothing where there are none.
    pub fn index_bytes(&self) -> usize {
        self.plan.indices.as_ref().map_or(1, |indices| indices.index_type.bytes())
    }

    /// The places of some outputs in the index tensor.
    pub fn store(&self, outputs: Span) -> Span {
        let Some(indices) = &self.plan.indices else {
            return outputs;
        };
        let channels = self.plan.channels as u64;
        let item = count(&self.plan.output_shape()[1..]);
        if indices.space.layout == self.plan.layout() || channels == 1 || item == channels {
            return outputs;
        }
        // The layouts order a batch item differently, so that all of it may be written.
        outputs.whole(item)
    }

    /// The most taps of an output of a pass, at least one.
    fn most_taps(&self, number: usize) -> u64 {
        let axes = self.passes[number].axes.iter();
        axes.fold(1, |product: u64, axis| product.saturating_mul(axis.most_taps.max(1)))
    }

    /// Refuses outputs that one dispatch cannot take.
    fn fit(&self, number: usize, sink: Sink, rows: &Rows, outputs: Span) -> Result<(), PlanError> {
        #[cfg(test)]
        crate::geometry::steps::count();
        // A single unit of outputs is not cut further for its taps: the iterations of an invocation are bounded anyway.
        if outputs.count() > rows.unit {
            within("taps of a dispatch", outputs.count().saturating_mul(self.most_taps(number)), MAX_TAPS)?;
        }
        grid(rows.invocations(outputs), self.limits)?;
        within("bytes around a window", self.bytes(number, sink, outputs), self.limits.max_binding_bytes)
    }

    /// The most bytes that a dispatch over these outputs binds of any buffer.
    fn bytes(&self, number: usize, sink: Sink, outputs: Span) -> u64 {
        let cut = self.cut(number, outputs);
        let bytes = |span: Span, element_bytes: usize| device_bytes(span.count(), element_bytes);
        let value_bytes = match sink {
            Sink::Candidates => bytes(outputs, CANDIDATE_BYTES as usize),
            _ => bytes(outputs, self.plan.dtype().bytes()),
        };
        let index_bytes = match sink {
            Sink::ValuesAndIndices(index_type) => bytes(cut.store, index_type.bytes()),
            _ => 0,
        };
        let source_bytes = if number == 0 { 0 } else { bytes(cut.source, CANDIDATE_BYTES as usize) };
        let x_bytes = bytes(cut.x, self.plan.dtype().bytes());
        value_bytes.max(index_bytes).max(source_bytes).max(x_bytes)
    }
}

impl Cut {
    /// The parts of the buffers that the dispatch binds, in the order of the key's bindings.
    pub fn slots(&self, number: usize, source: Source, sink: Sink, plan: &PoolPlan) -> Vec<Part> {
        let (x, y) = (count(plan.input_shape()), count(plan.output_shape()));
        let mut slots = vec![part(Slot::X, self.x, plan.dtype().bytes(), x)];
        if sink != Sink::Candidates {
            slots.push(part(Slot::Y, self.outputs, plan.dtype().bytes(), y));
        }
        if let (Source::Candidates, Some(before)) = (source, number.checked_sub(1)) {
            slots.push(part(Slot::Scratch(before), self.source, CANDIDATE_BYTES as usize, u64::MAX));
        }
        if sink == Sink::Candidates {
            slots.push(part(Slot::Scratch(number), self.outputs, CANDIDATE_BYTES as usize, u64::MAX));
        }
        slots.push(Part::whole(Slot::Tables));
        if let Sink::ValuesAndIndices(index_type) = sink {
            slots.push(part(Slot::IndicesOut, self.store, index_type.bytes(), y));
        }
        slots
    }
}

/// Some elements of a buffer that has so many: whole words of them, or all if they are all.
pub(super) fn part(slot: Slot, span: Span, element_bytes: usize, elements: u64) -> Part {
    if span.first == 0 && span.end >= elements {
        return Part::whole(slot);
    }
    let offset = span.first.saturating_mul(element_bytes as u64);
    let end = device_bytes(span.end.min(elements), element_bytes);
    Part { slot, offset, bytes: Some(end.saturating_sub(offset)) }
}

/// As few spans as cover everything and fit, each but the last a multiple of `unit`.
///
/// # Errors
/// Why a unit does not fit, or [`PlanError::ExceedsLimit`] for too many dispatches.
pub(super) fn spans(
    total: u64,
    unit: u64,
    fit: impl Fn(Span) -> Result<(), PlanError>,
) -> Result<Vec<Span>, PlanError> {
    let fits = |span: Span| fit(span).is_ok();
    let mut spans = Vec::new();
    // Where the next span begins, and how many units the one before has.
    let (mut first, mut before) = (0u64, 0u64);
    while first < total {
        let all = Span { first, end: total };
        let end = if fits(all) {
            total
        } else {
            // The most units that fit, between none and all.
            let units = |count: u64| Span { first, end: first.saturating_add(unit.saturating_mul(count)) };
            let (mut fitting, mut too_many) = (0, all.count().div_ceil(unit));
            // Neighbours are mostly alike.
            let next = before.saturating_add(1);
            if (1..too_many).contains(&before) {
                if !fits(units(before)) {
                    too_many = before;
                } else {
                    fitting = before;
                    too_many = if next < too_many && !fits(units(next)) { next } else { too_many };
                }
            }
            while too_many.abs_diff(fitting) > 1 {
                let middle = fitting.midpoint(too_many);
                if fits(units(middle)) { fitting = middle } else { too_many = middle }
            }
            if fitting == 0 {
                let one = Span { first, end: units(1).end.min(total) };
                fit(one)?;
                fitting = 1;
            }
            before = fitting;
            units(fitting).end.min(total)
        };
        let span = Span { first, end };
        spans.push(span);
        if spans.len() as u64 > MAX_DISPATCHES {
            let needed = total.div_ceil(span.count()).max(spans.len() as u64);
            return Err(PlanError::ExceedsLimit { what: "dispatches", needed, limit: MAX_DISPATCHES });
        }
        first = end;
    }
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_cover_everything_once_in_units() {
        let most = |most: u64| move |span: Span| within("outputs", span.count(), most);
        for total in [1, 255, 256, 257, 5_000] {
            for limit in [256, 300, 1_000, 10_000] {
                let found = spans(total, OUTPUT_UNIT, most(limit)).unwrap();
                assert_eq!((found[0].first, found[found.len() - 1].end), (0, total));
                assert!(found.windows(2).all(|pair| pair[0].end == pair[1].first && pair[1].first % OUTPUT_UNIT == 0));
                assert!(found.iter().all(|span| span.count() <= limit && span.count() > 0));
            }
        }
        let too_many = PlanError::ExceedsLimit { what: "outputs", needed: 256, limit: 255 };
        assert_eq!(spans(1_000, OUTPUT_UNIT, most(255)), Err(too_many));
        let endless = spans(u64::MAX / 2, OUTPUT_UNIT, most(256));
        assert!(matches!(endless, Err(PlanError::ExceedsLimit { what: "dispatches", .. })), "{endless:?}");
    }
}
