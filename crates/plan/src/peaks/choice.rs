//! Which of the peaks that were found are kept: the largest of each batch item, and those that are far enough apart.

use std::collections::HashMap;

use crate::element::Element;
use crate::error::ExecuteError;
use crate::options::Layout;
use crate::plan::PoolPlan;
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

/// Cells as large as the least distance: of the peaks that are kept each has one at most, and those that are too near
/// to another one lie in its own cell or in its neighbours.
struct Spacing {
    min_distance: usize,
    layout: Layout,
    channels: usize,
    extents: Vec<usize>,
    /// The spatial coordinates of the peak of a cell, by the plane's number and the cell's in the plane.
    cells: HashMap<usize, Vec<usize>>,
}

impl Spacing {
    fn new(plan: &PoolPlan, min_distance: usize) -> Spacing {
        let extents = plan.axes.iter().map(|axis| axis.input).collect();
        let (layout, channels) = (plan.layout(), plan.channels);
        Spacing { min_distance, layout, channels, extents, cells: HashMap::new() }
    }

    /// Whether an element is far enough from those taken before; it then is one of them.
    fn takes(&mut self, place: usize) -> Result<bool, ExecuteError> {
        let size = self.min_distance;
        let elements: usize = self.extents.iter().product();
        let (plane, mut rest) = match self.layout {
            Layout::Nchw => (place / elements, place % elements),
            Layout::Nhwc => {
                let pixel = place / self.channels;
                (pixel / elements * self.channels + place % self.channels, pixel % elements)
            }
        };
        let mut at = vec![0; self.extents.len()];
        for (at, extent) in at.iter_mut().zip(&self.extents).rev() {
            (*at, rest) = (rest % extent, rest / extent);
        }
        // Along each axis the cell before its own, its own, and the one behind it, where there are such.
        let cells: Vec<usize> = self.extents.iter().map(|extent| extent.div_ceil(size)).collect();
        let first: Vec<usize> = at.iter().map(|at| (at / size).saturating_sub(1)).collect();
        let near = at.iter().zip(&cells).zip(&first).map(|((at, cells), first)| (at / size + 2).min(*cells) - first);
        let near: Vec<usize> = near.collect();
        let number =
            |cell: &dyn Fn(usize) -> usize| (0..cells.len()).fold(plane, |number, a| number * cells[a] + cell(a));
        let is_near = |other: &Vec<usize>| other.iter().zip(&at).all(|(other, at)| other.abs_diff(*at) < size);
        let is_apart = if count(&near) > self.cells.len() as u64 {
            let of_plane = number(&|_| 0)..=number(&|a| cells[a] - 1);
            !self.cells.iter().any(|(number, other)| of_plane.contains(number) && is_near(other))
        } else {
            let mut cell = vec![0; near.len()];
            loop {
                let other = self.cells.get(&number(&|a| first[a] + cell[a]));
                if other.is_some_and(is_near) {
                    break false;
                }
                if advance(&mut cell, &|a| 0..near[a]).is_none() {
                    break true;
                }
            }
        };
        if is_apart {
            let kept = self.cells.len();
            self.cells.try_reserve(1).map_err(|_| ExecuteError::OutOfMemory(format!("{kept} peaks that are apart")))?;
            self.cells.insert(number(&|a| at[a] / size), at);
        }
        Ok(is_apart)
    }
}
