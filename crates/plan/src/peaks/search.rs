//! Looks for the elements that equal the maximum of their windows, and tells which of equal elements is the first.

use std::ops::Range;

use super::choice::Choosing;
use crate::element::Element;
use crate::error::ExecuteError;
use crate::geometry::AxisWindow;
use crate::options::{Layout, Plateaus};
use crate::plan::{PoolAxis, PoolPlan};
use crate::reduction::Reduction;

/// The elements that are compared before a branch: most blocks of a map have no peak.
const BLOCK: usize = 64;
/// The elements that are compared before the least value of a peak is asked for again.
const PIECE: usize = 1 << 14;

/// A search through X, of which Y is compared in the order of its elements.
pub(super) struct Search<'s, T> {
    plan: &'s PoolPlan,
    x: &'s [T],
    plateaus: Plateaus,
    axes: Vec<SearchAxis>,
    /// The elements in a row, and from one to its neighbour in the row.
    row: [usize; 2],
    /// Whether the windows of a row have the element before their own. An element that equals the one before it is then
    /// not the first of its window.
    looks_back: bool,
    pub found: Choosing<'s, T>,
    /// The window of the element that is looked at, along each axis on which it has others.
    window: Vec<OwnWindow>,
}

/// A spatial axis.
struct SearchAxis {
    axis: PoolAxis,
    /// From an element to its neighbour.
    stride: usize,
    /// The positions that are not in the border.
    inside: Range<usize>,
    /// Positions whose windows lie in X, and what these windows are.
    full: (Range<usize>, Option<OwnWindow>),
}

/// The taps of a window along an axis.
#[derive(Clone, Copy)]
struct OwnWindow {
    /// Those before the element in whose place the window lies.
    before: usize,
    count: usize,
    /// Elements of X from one to the next.
    pace: usize,
}

impl SearchAxis {
    fn new(axis: &PoolAxis, stride: usize, border: usize) -> SearchAxis {
        let inside = border..axis.input.saturating_sub(border);
        let mut made = SearchAxis { axis: *axis, stride, inside, full: (0..0, None) };
        if let AxisWindow::Strided { stride: 1, pad_begin, .. } = axis.window {
            let behind = axis.window.reach().saturating_sub(pad_begin).max(0);
            let begin = pad_begin.max(0) as usize;
            let full = begin..(axis.input as i64).saturating_sub(behind).max(0) as usize;
            let window = if full.is_empty() { None } else { made.taps(begin) };
            made.full = (full, window);
        }
        made
    }

    /// The window in the place of an element; `None` if it leaves out this element.
    fn window(&self, at: usize) -> Option<OwnWindow> {
        if self.full.0.contains(&at) { self.full.1 } else { self.taps(at) }
    }

    fn taps(&self, at: usize) -> Option<OwnWindow> {
        let taps = self.axis.taps(at);
        let before = taps.contains(at as i64).then(|| (at as i64 - taps.first) / taps.step.max(1))?;
        // One tap may have any dilation.
        let pace = if taps.count > 1 { taps.step as usize * self.stride } else { self.stride };
        Some(OwnWindow { before: before as usize, count: taps.count as usize, pace })
    }
}

impl<'s, T: Element> Search<'s, T> {
    pub fn new(plan: &'s PoolPlan, x: &'s [T], plateaus: Plateaus, border: &[usize], found: Choosing<'s, T>) -> Self {
        let mut stride = if plan.layout() == Layout::Nhwc { plan.channels } else { 1 };
        let mut row = None;
        let mut axes = Vec::new();
        for (axis, &border) in plan.axes.iter().zip(border).rev() {
            let next = SearchAxis::new(axis, stride, border);
            stride = stride.saturating_mul(axis.input);
            // The last axis that has neighbours.
            if row.is_none() && axis.input > 1 && !x.is_empty() {
                let Range { start, end } = next.full.0;
                // All full windows are alike.
                let mut places = (1..axis.input.min(start.max(1) + 1)).chain(end.max(1)..axis.input);
                let back = places.all(|at| next.window(at).is_some_and(|window| window.before > 0));
                let pace = next.window(1).map_or(0, |window| window.pace);
                row = Some((stride, next.stride, back && pace == next.stride));
            }
            axes.push(next);
        }
        axes.reverse();
        let (length, step, back) = row.unwrap_or((stride, stride, false));
        let looks_back = back && plateaus == Plateaus::First;
        let window = Vec::with_capacity(axes.len());
        Search { plan, x, plateaus, axes, row: [length.max(1), step.max(1)], looks_back, found, window }
    }

    /// Compares elements of Y, from the one at this place on, with those of X. Calls go on where the last one ended.
    pub fn run(&mut self, mut place: usize, mut y: &[T]) -> Result<(), ExecuteError> {
        while !y.is_empty() {
            // The first elements of a row have none before them.
            let [row, step] = self.row;
            let in_row = place % row;
            let (length, looks_back) = match in_row < step {
                true => (step - in_row, false),
                false => (row - in_row, self.looks_back),
            };
            let (here, behind) = y.split_at(length.min(y.len()).min(PIECE));
            let before = looks_back.then(|| &self.x[place - step..][..here.len()]);
            match (self.found.least(place), self.plan.reduction) {
                (None, _) => self.piece(place, here, before, |_| true),
                (Some(least), Reduction::Max) => self.piece(place, here, before, |value| value.rank() > least.rank()),
                (Some(most), Reduction::Min) => self.piece(place, here, before, |value| value.rank() < most.rank()),
            }?;
            (place, y) = (place + here.len(), behind);
        }
        Ok(())
    }

    /// Compares a piece of a row, of whose elements `passes` tells which are large enough. Those that equal the one
    /// before them are left out, if these are given.
    fn piece(
        &mut self,
        place: usize,
        y: &[T],
        before: Option<&[T]>,
        passes: impl Fn(T) -> bool + Copy,
    ) -> Result<(), ExecuteError> {
        let x = &self.x[place..][..y.len()];
        let hits = |(x, y): (&T, &T)| passes(*x) & (x.rank() == y.rank());
        for begin in (0..y.len()).step_by(BLOCK) {
            let block = begin..(begin + BLOCK).min(y.len());
            let both = || x[block.clone()].iter().zip(&y[block.clone()]);
            let any = match before {
                None => both().fold(false, |any, pair| any | hits(pair)),
                Some(before) => {
                    let triples = both().zip(&before[block.clone()]);
                    triples.fold(false, |any, (pair, before)| any | (hits(pair) & (pair.0.rank() != before.rank())))
                }
            };
            if any {
                for (at, pair) in block.clone().zip(both()) {
                    if hits(pair) && before.is_none_or(|before| before[at].rank() != pair.0.rank()) {
                        self.look(place + at)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks at an element that has the rank of the maximum in its place.
    fn look(&mut self, place: usize) -> Result<(), ExecuteError> {
        let (plan, value) = (self.plan, self.x[place]);
        if value.is_nan() || !plan.replaces(None, value) {
            return Ok(());
        }
        let mut rest = place / self.axes.last().map_or(1, |axis| axis.stride);
        self.window.clear();
        for axis in self.axes.iter().rev() {
            let at = rest % axis.axis.input;
            rest /= axis.axis.input;
            match axis.window(at) {
                Some(window) if axis.inside.contains(&at) => self.window.extend((window.count > 1).then_some(window)),
                _ => return Ok(()),
            }
        }
        self.window.reverse();
        if self.plateaus == Plateaus::First && self.has_equal_before(place) {
            return Ok(());
        }
        self.found.add(value, place)
    }

    /// Whether an earlier element of the window equals the one at this place, in row-major order. The nearest are
    /// looked at first. Equal elements that look through the same part lie outside each other's windows, and of those
    /// there are few if windows reach about as far before their element as behind it: then all elements of a map
    /// together look at a few times its elements.
    fn has_equal_before(&self, place: usize) -> bool {
        let rank = self.x[place].rank();
        (0..self.window.len()).rev().any(|axis| {
            let OwnWindow { before, pace, .. } = self.window[axis];
            match self.window.len() - axis {
                1 => self.row_has(place - before * pace, before, pace, rank),
                _ => (1..=before).any(|tap| self.has(axis + 1, place - tap * pace, rank)),
            }
        })
    }

    /// Whether the window along this axis and those after it has an element of this rank. On the axes before it the
    /// window is the position of `place`.
    fn has(&self, axis: usize, place: usize, rank: i64) -> bool {
        let OwnWindow { before, count, pace } = self.window[axis];
        let first = place - before * pace;
        match self.window.len() - axis {
            1 => self.row_has(first, count, pace, rank),
            _ => (0..count).rev().any(|tap| self.has(axis + 1, first + tap * pace, rank)),
        }
    }

    fn row_has(&self, first: usize, count: usize, pace: usize, rank: i64) -> bool {
        let equals = |row: &[T]| row.iter().fold(false, |any, other| any | (other.rank() == rank));
        match pace {
            1 => self.x[first..][..count].rchunks(BLOCK).any(equals),
            _ => (0..count).rev().any(|tap| self.x[first + tap * pace].rank() == rank),
        }
    }
}
