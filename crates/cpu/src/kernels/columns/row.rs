//! Rows of outputs, and the rows of X that their windows contain.

use wgpu_pooling_plan::{MAX_SPATIAL_AXES, Taps};

use crate::kernels::tuning::columns::{AT_ONCE, CHANNELS};
use crate::kernels::view::{View, ViewAxis};

/// Whether a row of columns is the channels of one position, each of which is an output.
pub fn outputs_are_columns(view: &View) -> bool {
    view.inner >= CHANNELS
}

/// The number of axes outside a row of columns.
pub fn outer_axes(view: &View) -> usize {
    if outputs_are_columns(view) { view.axes.len() } else { view.axes.len() - 1 }
}

/// A row of outputs.
#[derive(Debug, Clone, Copy)]
pub struct OutputRow<'a, T> {
    /// The plane of X that contains its windows, and the index offset of that plane.
    pub x: &'a [T],
    pub index: i64,
    /// Its number among the plane's rows of outputs, and its place in the part's outputs.
    pub number: usize,
    pub place: usize,
}

/// A row of X that windows contain: its place in the plane, the index of its first element in the first plane, and its
/// number among the rows of its windows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InputRow {
    pub place: usize,
    pub index: i64,
    pub number: i64,
}

/// The rows of X that windows contain, in row-major order.
#[allow(clippy::large_enum_variant, reason = "one is on the stack, for as long as a row of outputs takes")]
pub enum InputRows<'a> {
    Listed(&'a [InputRow]),
    Counted(CountedRows<'a>),
}

impl InputRows<'_> {
    /// The first row. Valid before the first call of `next_rows`.
    pub fn first(&self) -> InputRow {
        match self {
            InputRows::Listed(rows) => rows.first().copied().unwrap_or_default(),
            InputRows::Counted(rows) => rows.next,
        }
    }

    /// The index of a row, given its number. Valid before the first call of `next_rows`.
    #[inline(always)]
    pub fn index_of(&self, number: i64) -> i64 {
        match self {
            InputRows::Listed(rows) => rows[number as usize].index,
            InputRows::Counted(rows) => rows.index_of(number),
        }
    }

    /// The next rows, at most `AT_ONCE`. `memory` is room for them.
    pub fn next_rows<'a>(&'a mut self, memory: &'a mut [InputRow; AT_ONCE]) -> &'a [InputRow] {
        match self {
            InputRows::Listed(rows) => {
                let (taken, rest) = rows.split_at(rows.len().min(AT_ONCE));
                *rows = rest;
                taken
            }
            InputRows::Counted(rows) => {
                let taken = rows.write_next(memory);
                &memory[..taken]
            }
        }
    }
}

/// Rows of X that are computed by counting along the outer axes.
pub struct CountedRows<'a> {
    axes: &'a [ViewAxis],
    /// The taps of each output along the axes, and the outputs of this row.
    taps: &'a [Vec<Taps>],
    out: [usize; MAX_SPATIAL_AXES],
    at: [i64; MAX_SPATIAL_AXES],
    next: InputRow,
    left: i64,
}

impl<'a> CountedRows<'a> {
    /// The rows that the windows of outputs contain, given the taps of all outputs along the axes and the index of the
    /// plane's first element.
    pub fn new(axes: &'a [ViewAxis], taps: &'a [Vec<Taps>], out: [usize; MAX_SPATIAL_AXES], index: i64) -> Self {
        let next = InputRow { index, ..InputRow::default() };
        let mut rows = CountedRows { axes, taps, out, at: [0; MAX_SPATIAL_AXES], next, left: 1 };
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

    /// The amount that a number of taps along an axis adds to places and to indices.
    fn along(&self, axis: usize, count: i64) -> (usize, i64) {
        let positions = count * self.taps_along(axis).step;
        (positions as usize * self.axes[axis].x_stride, positions.wrapping_mul(self.axes[axis].index_stride))
    }

    /// Writes the next rows, and returns their number.
    pub fn write_next(&mut self, rows: &mut [InputRow]) -> usize {
        let last = self.axes.len().saturating_sub(1);
        let (count, (ahead, adds)) = match self.axes {
            [] => (1, (0, 0)),
            _ => (self.taps_along(last).count, self.along(last, 1)),
        };
        let mut taken = 0;
        while taken < rows.len() && self.left > 0 {
            // Up to the end of the last axis.
            let run = ((count - self.at[last]) as usize).min(rows.len() - taken);
            let InputRow { mut place, mut index, mut number } = self.next;
            for row in &mut rows[taken..taken + run] {
                *row = InputRow { place, index, number };
                (place, index, number) = (place + ahead, index.wrapping_add(adds), number + 1);
            }
            self.next = InputRow { place, index, number };
            taken += run;
            self.left -= run as i64;
            self.at[last] += run as i64;
            if self.at[last] == count && self.left > 0 {
                self.carry();
            }
        }
        taken
    }

    /// Carries from the end of the last axis to the axes before it.
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

    /// The expected rows, by enumeration of the taps along three axes.
    fn expected(axes: &[ViewAxis], taps: &[Taps], first: i64) -> Vec<InputRow> {
        let mut rows = vec![InputRow { place: 0, index: first, number: 0 }];
        for (axis, taps) in axes.iter().zip(taps) {
            let along = |row: InputRow| {
                taps.positions().map(move |position| InputRow {
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
            let counted = CountedRows::new(&axes[..outer], &of_axes, [1; MAX_SPATIAL_AXES], 5);
            assert_eq!(counted.left, expected.len() as i64);
            assert!(expected.iter().all(|row| counted.index_of(row.number) == row.index));
            for mut rows in [InputRows::Counted(counted), InputRows::Listed(&expected)] {
                let (mut taken, mut memory) = (vec![], [InputRow::default(); AT_ONCE]);
                loop {
                    let next = rows.next_rows(&mut memory);
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
