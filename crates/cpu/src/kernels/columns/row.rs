//! Rows of outputs, and the rows of X that their windows have.

use wgpu_pooling_plan::{MAX_SPATIAL_AXES, Taps};

use crate::kernels::view::View;
use crate::kernels::view::ViewAxis;

/// The fewest channels that are a row of columns, one of each position. Fewer do not fill a vector, and there is a row
/// of those of all positions along the last axis: what is along it has the step of the channels.
const CHANNELS: usize = 16;

/// Whether the channels of a position are a row of columns, each of which is an output.
pub fn outputs_are_columns(view: &View) -> bool {
    view.inner >= CHANNELS
}

/// The number of axes that lead from row to row.
pub fn outer_axes(view: &View) -> usize {
    if outputs_are_columns(view) { view.axes.len() } else { view.axes.len() - 1 }
}

/// A row of outputs.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a, T> {
    /// Its plane of X, and that plane's first index.
    pub x: &'a [T],
    pub index: i64,
    /// Its number among the rows of outputs of the plane, and its place in the part's outputs.
    pub number: usize,
    pub place: usize,
}

/// Rows of X that are taken at once: a chunk of columns is loaded and stored once for all of them.
pub const AT_ONCE: usize = 16;

/// A row of X that windows have: its place in the plane, the index of its first element in the first plane, and its
/// number among those of its windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RowOfX {
    pub place: usize,
    pub index: i64,
    pub number: i64,
}

/// The rows of X that windows have, in row-major order, some at a time.
#[allow(clippy::large_enum_variant, reason = "one is on the stack, for as long as a row of outputs takes")]
pub enum RowsOfX<'a> {
    Listed(&'a [RowOfX]),
    Counted(Counted<'a>),
}

impl RowsOfX<'_> {
    /// The first row, if none has been taken.
    pub fn first(&self) -> RowOfX {
        match self {
            RowsOfX::Listed(rows) => rows.first().copied().unwrap_or_default(),
            RowsOfX::Counted(rows) => rows.next,
        }
    }

    /// The index of a row, given its number, if none has been taken.
    #[inline(always)]
    pub fn index_of(&self, number: i64) -> i64 {
        match self {
            RowsOfX::Listed(rows) => rows[number as usize].index,
            RowsOfX::Counted(rows) => rows.index_of(number),
        }
    }

    /// The rows that follow, at most `AT_ONCE`. They may be written to `memory`.
    pub fn take<'a>(&'a mut self, memory: &'a mut [RowOfX; AT_ONCE]) -> &'a [RowOfX] {
        match self {
            RowsOfX::Listed(rows) => {
                let (taken, rest) = rows.split_at(rows.len().min(AT_ONCE));
                *rows = rest;
                taken
            }
            RowsOfX::Counted(rows) => {
                let taken = rows.take(memory);
                &memory[..taken]
            }
        }
    }
}

/// Rows of X that are counted along the axes that lead from row to row.
pub struct Counted<'a> {
    axes: &'a [ViewAxis],
    /// The taps of each output along the axes, and the outputs.
    taps: &'a [Vec<Taps>],
    out: [usize; MAX_SPATIAL_AXES],
    at: [i64; MAX_SPATIAL_AXES],
    next: RowOfX,
    left: i64,
}

impl<'a> Counted<'a> {
    /// The rows that the windows of outputs have, given the taps of all outputs along the axes and the index of the
    /// plane's first element.
    pub fn of(axes: &'a [ViewAxis], taps: &'a [Vec<Taps>], out: [usize; MAX_SPATIAL_AXES], index: i64) -> Self {
        let next = RowOfX { index, ..RowOfX::default() };
        let mut rows = Counted { axes, taps, out, at: [0; MAX_SPATIAL_AXES], next, left: 1 };
        for (number, axis) in axes.iter().enumerate() {
            let taps = rows.taps_along(number);
            rows.next.place += taps.first as usize * axis.x_stride;
            rows.next.index = rows.next.index.wrapping_add(taps.first.wrapping_mul(axis.index_stride));
            rows.left *= taps.count;
        }
        rows
    }

    fn taps_along(&self, axis: usize) -> Taps {
        self.taps[axis][self.out[axis]]
    }

    fn index_of(&self, mut number: i64) -> i64 {
        let mut index = self.next.index;
        for axis in (0..self.axes.len()).rev() {
            let count = self.taps_along(axis).count;
            index = index.wrapping_add(self.along(axis, number % count).1);
            number /= count;
        }
        index
    }

    /// What a number of taps along an axis adds to places and to indices.
    fn along(&self, axis: usize, count: i64) -> (usize, i64) {
        let positions = count * self.taps_along(axis).step;
        (positions as usize * self.axes[axis].x_stride, positions.wrapping_mul(self.axes[axis].index_stride))
    }

    /// Writes the rows that follow, and returns how many there are.
    pub fn take(&mut self, rows: &mut [RowOfX]) -> usize {
        let last = self.axes.len().saturating_sub(1);
        let (count, (ahead, adds)) = match self.axes {
            [] => (1, (0, 0)),
            _ => (self.taps_along(last).count, self.along(last, 1)),
        };
        let mut taken = 0;
        while taken < rows.len() && self.left > 0 {
            // To the end of the last axis.
            let run = ((count - self.at[last]) as usize).min(rows.len() - taken);
            let RowOfX { mut place, mut index, mut number } = self.next;
            for row in &mut rows[taken..taken + run] {
                *row = RowOfX { place, index, number };
                (place, index, number) = (place + ahead, index.wrapping_add(adds), number + 1);
            }
            self.next = RowOfX { place, index, number };
            taken += run;
            self.left -= run as i64;
            self.at[last] += run as i64;
            if self.at[last] == count && self.left > 0 {
                self.carry();
            }
        }
        taken
    }

    /// Goes on from the end of the last axis to the next row of the axes before it.
    fn carry(&mut self) {
        for axis in (1..self.axes.len()).rev() {
            if self.at[axis] < self.taps_along(axis).count {
                return;
            }
            let ((back, less), (ahead, more)) = (self.along(axis, self.at[axis]), self.along(axis - 1, 1));
            self.next.place = self.next.place + ahead - back;
            self.next.index = self.next.index.wrapping_add(more).wrapping_sub(less);
            self.at[axis] = 0;
            self.at[axis - 1] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wgpu_pooling_plan::AxisWindow;

    /// The rows of windows that have these taps along three axes, by counting.
    fn expected(axes: &[ViewAxis], taps: &[Taps], first: i64) -> Vec<RowOfX> {
        let mut rows = vec![RowOfX { place: 0, index: first, number: 0 }];
        for (axis, taps) in axes.iter().zip(taps) {
            let along = |row: RowOfX| {
                taps.positions().map(move |position| RowOfX {
                    place: row.place + position as usize * axis.x_stride,
                    index: row.index + position * axis.index_stride,
                    number: 0,
                })
            };
            rows = rows.into_iter().flat_map(along).collect();
        }
        rows.iter_mut().zip(0..).for_each(|(row, number)| row.number = number);
        rows
    }

    #[test]
    fn rows_come_in_row_major_order() {
        let window = AxisWindow::Strided { kernel: 1, stride: 1, dilation: 1, pad_begin: 0 };
        let axes = [(1000, 1), (100, 50), (10, 7)].map(|(x_stride, index_stride)| ViewAxis {
            input: 50,
            output: 1,
            window,
            x_stride,
            index_stride,
        });
        let taps = |counts: [i64; 3]| counts.map(|count| Taps { first: 3, count, step: 1 + count % 3 });
        for (taps, outer) in [taps([1, 1, 1]), taps([3, 2, 5]), taps([2, 1, 40]), taps([16, 3, 16])]
            .into_iter()
            .flat_map(|taps| (0..=3).map(move |outer| (taps, outer)))
        {
            let of_axes: Vec<_> = taps[..outer].iter().map(|&taps| vec![Taps { first: 0, ..taps }, taps]).collect();
            let expected = expected(&axes[..outer], &taps, 5);
            let counted = Counted::of(&axes[..outer], &of_axes, [1; MAX_SPATIAL_AXES], 5);
            assert_eq!(counted.left, expected.len() as i64);
            assert!(expected.iter().all(|row| counted.index_of(row.number) == row.index));
            for mut rows in [RowsOfX::Counted(counted), RowsOfX::Listed(&expected)] {
                let (mut taken, mut memory) = (vec![], [RowOfX::default(); AT_ONCE]);
                loop {
                    let next = rows.take(&mut memory);
                    if next.is_empty() {
                        break;
                    }
                    taken.extend_from_slice(next);
                }
                assert_eq!(taken, expected);
            }
        }
    }
}
