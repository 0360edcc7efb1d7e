//! How the outputs of one pass of sliding maxima are shared out among invocations, and what these read and write.

use super::slide::{AxisSpan, Slide};
use super::view::Span;

/// How the lines of a pass are shared out: a block is what the invocations of all classes compute together of one run, so that
/// the outputs of blocks follow each other.
pub(super) struct Blocks<'a> {
    pub slide: &'a Slide,
    /// Windows of an invocation.
    pub run: u64,
    /// Neighbouring lines of an invocation.
    pub lines: u64,
}

impl Blocks<'_> {
    /// Blocks along the axis.
    pub fn runs(&self) -> u64 {
        self.slide.outputs_of_a_class().div_ceil(self.run.max(1)).max(1)
    }

    /// Invocations beside each other inside the axis.
    pub fn cells(&self) -> u64 {
        self.slide.inner.checked_div(self.lines).unwrap_or(1)
    }

    pub fn invocations(&self, blocks: Span) -> u64 {
        blocks.count().saturating_mul(self.slide.classes).saturating_mul(self.cells())
    }

    /// Outer number and outputs along the axis of a block.
    fn outputs(&self, block: u64) -> (u64, Span) {
        let outer = block.checked_div(self.runs()).unwrap_or(0);
        let run = block.checked_rem(self.runs()).unwrap_or(0);
        let outputs = self.run.saturating_mul(self.slide.classes);
        let first = run.saturating_mul(outputs).min(self.slide.output);
        (outer, Span { first, end: first.saturating_add(outputs).min(self.slide.output) })
    }

    /// The outputs of some blocks.
    pub fn sink(&self, blocks: Span) -> Span {
        let ((first, of_first), (last, of_last)) =
            (self.outputs(blocks.first), self.outputs(blocks.end.saturating_sub(1)));
        // Rows may have more elements than outputs.
        let whole = of_last.end >= self.slide.output;
        let end =
            if whole { self.slide.number(last.saturating_add(1), 0) } else { self.slide.number(last, of_last.end) };
        Span { first: self.slide.number(first, of_first.first), end }
    }

    /// What some blocks look at of an axis.
    pub fn source(&self, blocks: Span, axis: &AxisSpan) -> Span {
        let ((first, of_first), (last, of_last)) =
            (self.outputs(blocks.first), self.outputs(blocks.end.saturating_sub(1)));
        let number = |outer: u64, element: u64| {
            outer.saturating_mul(axis.input).saturating_add(element).saturating_mul(axis.inner)
        };
        let [low, high] = axis.bounds(of_first.first, of_last.end.saturating_sub(1));
        Span { first: number(first, low), end: number(last, high.saturating_add(1)) }
    }
}
