//! How the outputs of one pass of sliding maxima are divided among invocations, and the ranges that an invocation reads
//! and writes.

use super::slide::{AxisRange, Slide};
use super::view::ElementRange;

/// The division of a pass into blocks. A block is one run of neighbouring windows of every class on a line, so the
/// outputs of consecutive blocks are consecutive.
pub(super) struct Blocks<'a> {
    pub slide: &'a Slide,
    /// Windows per invocation.
    pub run: u64,
    /// Neighbouring lines per invocation, one per lane.
    pub lines: u64,
}

impl Blocks<'_> {
    /// Blocks along the axis.
    pub fn runs(&self) -> u64 {
        self.slide.outputs_of_a_class().div_ceil(self.run.max(1)).max(1)
    }

    /// Invocations that divide the extent inside the axis.
    pub fn cells(&self) -> u64 {
        self.slide.inner.checked_div(self.lines).unwrap_or(1)
    }

    pub fn invocations(&self, blocks: ElementRange) -> u64 {
        blocks.count().saturating_mul(self.slide.classes).saturating_mul(self.cells())
    }

    /// The outer number of a block, and its outputs along the axis.
    fn outputs(&self, block: u64) -> (u64, ElementRange) {
        let outer = block.checked_div(self.runs()).unwrap_or(0);
        let run = block.checked_rem(self.runs()).unwrap_or(0);
        let outputs = self.run.saturating_mul(self.slide.classes);
        let first = run.saturating_mul(outputs).min(self.slide.output);
        (outer, ElementRange { first, end: first.saturating_add(outputs).min(self.slide.output) })
    }

    /// The positions of the outputs of these blocks.
    pub fn sink(&self, blocks: ElementRange) -> ElementRange {
        let ((first, of_first), (last, of_last)) =
            (self.outputs(blocks.first), self.outputs(blocks.end.saturating_sub(1)));
        // A row of scratch memory may be longer than its outputs.
        let whole = of_last.end >= self.slide.output;
        let end =
            if whole { self.slide.number(last.saturating_add(1), 0) } else { self.slide.number(last, of_last.end) };
        ElementRange { first: self.slide.number(first, of_first.first), end }
    }

    /// The elements that these blocks read along an axis.
    pub fn source(&self, blocks: ElementRange, axis: &AxisRange) -> ElementRange {
        let ((first, of_first), (last, of_last)) =
            (self.outputs(blocks.first), self.outputs(blocks.end.saturating_sub(1)));
        let number = |outer: u64, element: u64| {
            outer.saturating_mul(axis.input).saturating_add(element).saturating_mul(axis.inner)
        };
        let [low, high] = axis.bounds(of_first.first, of_last.end.saturating_sub(1));
        ElementRange { first: number(first, low), end: number(last, high.saturating_add(1)) }
    }
}
