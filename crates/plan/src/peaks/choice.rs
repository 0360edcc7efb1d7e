//! Which of the peaks that were found are kept: the largest of each batch item, and those that are far enough apart.

use std::collections::HashMap;

use crate::element::Element;
use crate::error::ExecuteError;
use crate::index::take_digit;
use crate::plan::{PoolPlan, assemble};
use crate::reduction::Reduction;
use crate::tensor::{advance, count};

/// The peaks of a batch item at which those that cannot be among the largest are dropped during a search.
const MANY: usize = 1 << 13;

/// A peak as a number. The largest peak has the least one, and of equal peaks the first in X.
type Found = u128;

fn reserve(peaks: &mut Vec<Found>, more: usize) -> Result<(), ExecuteError> {
    let count = peaks.len().saturating_add(more);
    peaks.try_reserve(more).map_err(|_| ExecuteError::OutOfMemory(format!("{count} peaks")))
}

fn place(found: Found) -> usize {
    found as u64 as usize
}

/// The first bits of a peak: larger elements of a maximum have smaller ones.
fn order(rank: i64, reduction: Reduction) -> u64 {
    let ascending = if reduction == Reduction::Max { !rank } else { rank };
    (ascending ^ i64::MIN) as u64
}

/// The peaks found so far, in the order of their places.
pub(super) struct Choosing<'s, T> {
    x: &'s [T],
    reduction: Reduction,
    threshold: Option<T>,
    most: usize,
    spacing: Option<Spacing>,
    /// The elements of a batch item.
    item: usize,
    /// The batch item that is searched, its peaks, and the value above which another one has to be.
    number: usize,
    found: Vec<Found>,
    least: Option<T>,
    /// The peaks of the batch items before it.
    kept: Vec<Found>,
}

impl<'s, T: Element> Choosing<'s, T> {
    pub fn new(
        plan: &PoolPlan,
        x: &'s [T],
        threshold: Option<T>,
        (largest, min_distance): (Option<usize>, usize),
    ) -> Self {
        Choosing {
            x,
            reduction: plan.reduction,
            threshold,
            most: largest.unwrap_or(usize::MAX),
            spacing: (min_distance > 1).then(|| Spacing::new(plan, min_distance)),
            item: count(plan.input_shape().get(1..).unwrap_or_default()).max(1) as usize,
            number: 0,
            found: Vec::new(),
            least: threshold,
            kept: Vec::new(),
        }
    }

    /// The value above which a peak in this place has to be, which is below it for minima.
    pub fn least(&self, place: usize) -> Option<T> {
        if place / self.item == self.number { self.least } else { self.threshold }
    }

    /// Adds a peak, whose place is behind those of all before it.
    pub fn add(&mut self, value: T, place: usize) -> Result<(), ExecuteError> {
        if place / self.item != self.number {
            self.end_item()?;
            (self.number, self.least) = (place / self.item, self.threshold);
        }
        if self.found.len() >= MANY.max(self.most.saturating_mul(2)) && self.spacing.is_none() {
            self.drop_smallest();
        }
        reserve(&mut self.found, 1)?;
        self.found.push(Found::from(order(value.rank(), self.reduction)) << u64::BITS | place as Found);
        Ok(())
    }

    /// Keeps the largest of the item alone. Behind them only a larger one can take the place of the smallest.
    fn drop_smallest(&mut self) {
        if let Some(last) = self.most.checked_sub(1).filter(|&last| last < self.found.len()) {
            let (_, &mut smallest, _) = self.found.select_nth_unstable(last);
            self.least = Some(self.x[place(smallest)]);
        }
        self.found.truncate(self.most);
    }

    fn end_item(&mut self) -> Result<(), ExecuteError> {
        let Some(spacing) = &mut self.spacing else {
            self.drop_smallest();
            if self.kept.is_empty() {
                std::mem::swap(&mut self.kept, &mut self.found);
            }
            reserve(&mut self.kept, self.found.len())?;
            self.kept.append(&mut self.found);
            return Ok(());
        };
        // No more of them are sorted than are needed, within a factor.
        let (mut rest, mut missing, mut next) = (&mut self.found[..], self.most, self.most);
        while missing > 0 && !rest.is_empty() {
            if next < rest.len() {
                rest.select_nth_unstable(next);
            }
            let (head, behind) = rest.split_at_mut(next.min(rest.len()));
            head.sort_unstable();
            for &peak in head.iter() {
                if missing > 0 && spacing.takes(place(peak))? {
                    reserve(&mut self.kept, 1)?;
                    self.kept.push(peak);
                    missing -= 1;
                }
            }
            (rest, next) = (behind, next.saturating_mul(2));
        }
        spacing.cells.clear();
        self.found.clear();
        Ok(())
    }

    /// The places and the values of the peaks that are kept, the largest first.
    pub fn kept(mut self) -> Result<impl ExactSizeIterator<Item = (usize, T)>, ExecuteError> {
        self.end_item()?;
        self.kept.sort_unstable();
        let Choosing { x, reduction, kept, .. } = self;
        Ok(kept.into_iter().map(move |peak| {
            // `order` undoes itself, but for the highest bit, which is inverted before and after.
            let rank = order((peak >> u64::BITS) as i64 ^ i64::MIN, reduction) as i64 ^ i64::MIN;
            // The value follows from the rank without reading X, which caches no longer have. Only of zeros the rank
            // lacks the sign.
            (place(peak), if rank == 0 { x[place(peak)] } else { T::of_rank(rank) })
        }))
    }
}

/// The coordinates of an element by its place in a tensor of this shape.
pub(super) fn coordinates(place: usize, shape: &[usize], position: &mut [usize]) {
    let mut rest = place as u64;
    for (coordinate, &extent) in position.iter_mut().zip(shape).rev() {
        *coordinate = take_digit(&mut rest, extent as u64) as usize;
    }
}

/// Cells as long as the least distance along spatial axes, and of one element along the others. Of the peaks that are
/// kept each cell has one at most, and those that are too near to another one lie in its own cell or in a neighbour.
struct Spacing {
    shape: Vec<usize>,
    /// The elements of a cell along each axis.
    sizes: Vec<usize>,
    /// The coordinates of the peak of a cell, by the cell's number in row-major order.
    cells: HashMap<usize, Vec<usize>>,
}

impl Spacing {
    fn new(plan: &PoolPlan, min_distance: usize) -> Spacing {
        let sizes = assemble(plan.layout(), 1, 1, &vec![min_distance; plan.axes.len()]);
        Spacing { shape: plan.input_shape().to_vec(), sizes, cells: HashMap::new() }
    }

    /// Whether an element is far enough from those taken before; it then is one of them.
    fn takes(&mut self, place: usize) -> Result<bool, ExecuteError> {
        let Spacing { shape, sizes, cells } = self;
        let mut at = vec![0; shape.len()];
        coordinates(place, shape, &mut at);
        let beyond = |axis: usize| shape[axis].div_ceil(sizes[axis]);
        let number = |cell: &dyn Fn(usize) -> usize| (0..sizes.len()).fold(0, |number, a| number * beyond(a) + cell(a));
        let own = |axis: usize| at[axis] / sizes[axis];
        // Along a spatial axis the cell before its own, its own, and the one behind it, where there are such.
        let around = |axis: usize| match sizes[axis] {
            1 => own(axis)..own(axis) + 1,
            _ => own(axis).saturating_sub(1)..(own(axis) + 2).min(beyond(axis)),
        };
        let is_near = |other: &Vec<usize>| (0..at.len()).all(|axis| other[axis].abs_diff(at[axis]) < sizes[axis]);
        let near = (0..at.len()).fold(1, |near: usize, axis| near.saturating_mul(around(axis).len()));
        let is_apart = if near > cells.len() {
            !cells.values().any(is_near)
        } else {
            let mut cell: Vec<usize> = (0..at.len()).map(|axis| around(axis).start).collect();
            loop {
                if cells.get(&number(&|axis| cell[axis])).is_some_and(is_near) {
                    break false;
                }
                if advance(&mut cell, &around).is_none() {
                    break true;
                }
            }
        };
        if is_apart {
            let kept = cells.len();
            cells.try_reserve(1).map_err(|_| ExecuteError::OutOfMemory(format!("{kept} peaks that are apart")))?;
            cells.insert(number(&own), at);
        }
        Ok(is_apart)
    }
}
