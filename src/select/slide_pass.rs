//! The passes of sliding maxima: how the outputs of each are divided among invocations, and the ranges that an
//! invocation reads and writes.

use wgpu_pooling_plan::{PlanError, PoolPlan};

use super::bounds::check_elements;
use super::slide::{AxisRange, Slide, slides};
use super::slide_layout::SlideLayout;
use super::view::ElementRange;

/// A pass of sliding maxima along the innermost axis, in which the lanes of a vector are neighbours along the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlidingRow {
    /// Elements between an aligned load of four and a window's first element.
    pub left: u32,
    /// Whether lines of X are multiples of four elements.
    pub even: bool,
}

/// One pass, and its division into blocks. A block is one run of neighbouring windows of every class on a line, so the
/// outputs of consecutive blocks are consecutive.
pub(super) struct SlidePass {
    pub number: usize,
    pub is_last: bool,
    pub slide: Slide,
    /// How the lanes lie along the axis; `None` if they lie across it.
    pub row: Option<SlidingRow>,
    /// Neighbouring lines per invocation: one where the lanes lie along the axis.
    pub lines: u64,
    /// Windows per invocation.
    pub run: u64,
}

impl SlidePass {
    pub fn all(plan: &PoolPlan, layout: &SlideLayout) -> Result<Vec<SlidePass>, PlanError> {
        let mut slides = slides(plan, layout.most_chunks())?;
        layout.pitch.lay_out(&mut slides);
        let passes = slides.len();
        let pass = |(number, slide): (usize, Slide)| {
            check_elements("elements between two passes", slide.outputs())?;
            let is_last = number.saturating_add(1) == passes;
            let row = SlidePass::row(plan, layout, &slide, is_last).filter(|_| number == 0);
            let lines = if row.is_some() { 1 } else { layout.lanes(&slide) };
            let run = layout.run(&slide, lines);
            Ok(SlidePass { number, is_last, slide, row, lines, run })
        };
        slides.into_iter().enumerate().map(pass).collect()
    }

    /// How the lanes of the first pass lie along its axis, if they can.
    fn row(plan: &PoolPlan, layout: &SlideLayout, slide: &Slide, is_last: bool) -> Option<SlidingRow> {
        let left = slide.row_left()?;
        // A row of scratch memory must be a multiple of four elements.
        let whole = is_last || slide.sink_line.is_multiple_of(4);
        let fits = whole && layout.run(slide, 1) >= 4 && plan.dtype().bytes() <= 4;
        let even = slide.input.is_multiple_of(4) && !layout.is_apart(plan);
        fits.then_some(SlidingRow { left, even })
    }

    /// Lanes of an invocation's vectors.
    pub fn lanes(&self) -> u64 {
        if self.row.is_some() { 4 } else { self.lines }
    }

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
