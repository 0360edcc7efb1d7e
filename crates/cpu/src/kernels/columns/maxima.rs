//! The maxima of the columns of some rows of outputs, and the search for each window's maximum in them.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{Element, Taps};

use crate::kernels::lane::{Code, Lane, Positioned, greatest_lane};
use crate::kernels::simd::SimdLevel;
use crate::kernels::transpose::{InterleavedPlanes, interleave};

/// The columns that are reduced at a time. Memory for columns is a multiple of this.
pub const CHUNK: usize = 16;

/// The greatest lane of a window, its column, and, where rows are stored, the number of its row.
#[derive(Clone, Copy)]
pub struct WindowMaximum<L> {
    pub lane: L,
    pub row: i64,
    pub column: usize,
}

/// The maxima of the columns of some rows of outputs.
pub trait ColumnMaxima<L> {
    /// Reduces rows of X into the columns at the given places. The flag says whether these already contain the maxima
    /// of other rows.
    fn reduce<C: Code<Lane = L>>(
        &mut self,
        simd: SimdLevel,
        rows: &[RowSlice<'_, C::Element>],
        into: (Range<usize>, bool),
    );

    /// The greatest lane of some columns. Where rows are stored, it is the first of equal lanes in row-major order.
    fn window(&self, columns: Taps) -> WindowMaximum<L>;

    /// The greatest lane of a column, and the value stored for its row.
    fn column(&self, column: usize) -> (L, i64);

    /// Interleaves the columns of several rows of outputs. Each row is a plane of the interleaving.
    fn interleave(&mut self, simd: SimdLevel, rows: InterleavedPlanes);

    /// Like `window` for all interleaved rows of outputs: the result of row r is written to `found[r * CHUNK]`.
    fn windows<const TOGETHER: usize>(&self, columns: Taps, found: &mut [WindowMaximum<L>]);

    /// Whether rows are stored, as they are for indices; then the lane also tells -0 from +0.
    const ROWS: bool;
}

/// Stores the greatest lane of each column.
pub struct MaximaAlone<'a, L> {
    pub best: ColumnBuffer<'a, L>,
}

/// Stores the greatest lane of each column, and a number for its row.
pub struct MaximaWithRows<'a, L: Positioned> {
    pub best: ColumnBuffer<'a, L>,
    pub rows: ColumnBuffer<'a, L::Position>,
}

/// One value per column: first by rows of outputs, then interleaved.
pub struct ColumnBuffer<'a, T> {
    pub own: &'a mut [T],
    pub interleaved: &'a mut [T],
}

impl<T: Pod> ColumnBuffer<'_, T> {
    fn interleave(&mut self, simd: SimdLevel, rows: InterleavedPlanes) {
        interleave(simd, size_of::<T>(), rows, cast_slice(self.own), cast_slice_mut(self.interleaved));
    }

    /// One column of all interleaved rows.
    #[inline(always)]
    fn of_rows<const TOGETHER: usize>(&self, column: usize) -> &[T; TOGETHER] {
        &self.interleaved.as_chunks::<TOGETHER>().0[column]
    }
}

/// A part of a row of X, and the number to store in columns where an element of this row is the greatest.
#[derive(Clone, Copy)]
pub struct RowSlice<'a, T> {
    pub x: &'a [T],
    pub row: i64,
}

impl<T: Element> RowSlice<'_, T> {
    /// The elements after the last whole chunk, padded with zeros.
    #[cold]
    #[inline(never)]
    fn last(&self) -> [T; CHUNK] {
        let (mut chunk, rest) = ([T::zeroed(); CHUNK], self.x.as_chunks::<CHUNK>().1);
        chunk[..rest.len()].copy_from_slice(rest);
        chunk
    }
}

/// Visits the same chunk of columns in each row of X, with the row's number. The last chunk of a row may contain
/// elements of the next row; no window contains those columns.
#[inline(always)]
fn each_chunk<T: Element>(rows: &[RowSlice<'_, T>], number: usize, mut visit: impl FnMut([T; CHUNK], i64)) {
    if rows.iter().all(|row| number < row.x.len() / CHUNK) {
        for row in rows {
            visit(row.x.as_chunks().0[number], row.row);
        }
    } else {
        for row in rows {
            let chunks = row.x.as_chunks().0;
            visit(if number < chunks.len() { chunks[number] } else { row.last() }, row.row);
        }
    }
}

impl<L: Lane> ColumnMaxima<L> for MaximaAlone<'_, L> {
    fn reduce<C: Code<Lane = L>>(
        &mut self,
        simd: SimdLevel,
        rows: &[RowSlice<'_, C::Element>],
        (columns, more): (Range<usize>, bool),
    ) {
        simd.run(
            #[inline(always)]
            || {
                for (number, best) in self.best.own[columns].as_chunks_mut::<CHUNK>().0.iter_mut().enumerate() {
                    let mut own = if more { *best } else { [L::LOWEST; CHUNK] };
                    each_chunk(
                        rows,
                        number,
                        #[inline(always)]
                        |chunk, _| {
                            for i in 0..CHUNK {
                                own[i] = own[i].step(C::encode(chunk[i]), 0);
                            }
                        },
                    );
                    *best = own;
                }
            },
        );
    }

    #[inline(always)]
    fn window(&self, columns: Taps) -> WindowMaximum<L> {
        let (columns, step) = reach(columns);
        let (best, column) = (&self.best.own[columns.clone()], columns.start);
        let lane = if step == 1 { greatest_of(best) } else { greatest(best.iter().step_by(step)) };
        WindowMaximum { lane, row: 0, column }
    }

    #[inline(always)]
    fn column(&self, column: usize) -> (L, i64) {
        (self.best.own[column], 0)
    }

    fn interleave(&mut self, simd: SimdLevel, rows: InterleavedPlanes) {
        self.best.interleave(simd, rows);
    }

    #[inline(always)]
    fn windows<const TOGETHER: usize>(&self, columns: Taps, found: &mut [WindowMaximum<L>]) {
        let (columns, step) = reach(columns);
        let mut best = [L::LOWEST; TOGETHER];
        for column in columns.clone().step_by(step) {
            let next = self.best.of_rows::<TOGETHER>(column);
            for i in 0..TOGETHER {
                best[i] = best[i].step(next[i], 0);
            }
        }
        for (found, lane) in found.iter_mut().step_by(CHUNK).zip(best) {
            *found = WindowMaximum { lane, row: 0, column: columns.start };
        }
    }

    const ROWS: bool = false;
}

impl<L: Positioned> ColumnMaxima<L> for MaximaWithRows<'_, L> {
    fn reduce<C: Code<Lane = L>>(
        &mut self,
        simd: SimdLevel,
        rows: &[RowSlice<'_, C::Element>],
        (columns, more): (Range<usize>, bool),
    ) {
        simd.run(
            #[inline(always)]
            || {
                let best = self.best.own[columns.clone()].as_chunks_mut::<CHUNK>().0.iter_mut();
                for (number, (best, row_of)) in best.zip(self.rows.own[columns].as_chunks_mut::<CHUNK>().0).enumerate()
                {
                    let (mut own, mut own_rows) =
                        if more { (*best, *row_of) } else { ([L::LOWEST; CHUNK], [L::position(0); CHUNK]) };
                    each_chunk(
                        rows,
                        number,
                        #[inline(always)]
                        |chunk, row| {
                            let row = L::position(row);
                            for i in 0..CHUNK {
                                let lane = C::encode(chunk[i]);
                                own_rows[i] = L::select(own[i], lane, own_rows[i], row);
                                own[i] = own[i].step(lane, 0);
                            }
                        },
                    );
                    (*best, *row_of) = (own, own_rows);
                }
            },
        );
    }

    #[inline(always)]
    fn window(&self, columns: Taps) -> WindowMaximum<L> {
        let (width, (columns, step)) = (columns.count.max(1) as i32, reach(columns));
        let (best, rows) = (&self.best.own[columns.clone()], &self.rows.own[columns.clone()]);
        let earliest = if step == 1 {
            earliest(greatest_of(best), best.iter().zip(rows), width)
        } else {
            earliest(greatest(best.iter().step_by(step)), best.iter().zip(rows).step_by(step), width)
        };
        let (row, column) = (earliest / width, columns.start + (earliest % width) as usize * step);
        // The lane of this column: another column may hold the zero of the other sign.
        WindowMaximum { lane: self.best.own[column], row: row.into(), column }
    }

    #[inline(always)]
    fn column(&self, column: usize) -> (L, i64) {
        (self.best.own[column], L::offset(self.rows.own[column]))
    }

    fn interleave(&mut self, simd: SimdLevel, rows: InterleavedPlanes) {
        self.best.interleave(simd, rows);
        self.rows.interleave(simd, rows);
    }

    #[inline(always)]
    fn windows<const TOGETHER: usize>(&self, columns: Taps, found: &mut [WindowMaximum<L>]) {
        let (columns, step) = reach(columns);
        let of_column =
            |column: usize| (*self.best.of_rows::<TOGETHER>(column), *self.rows.of_rows::<TOGETHER>(column));
        let (mut best, mut rows) = of_column(columns.start);
        let mut places = [L::position(0); TOGETHER];
        for column in columns.clone().step_by(step).skip(1) {
            let (next, next_rows) = of_column(column);
            let place = L::position((column - columns.start) as i64);
            for i in 0..TOGETHER {
                let replaces = L::precedes((best[i], rows[i]), (next[i], next_rows[i]));
                best[i] = if replaces { next[i] } else { best[i] };
                rows[i] = if replaces { next_rows[i] } else { rows[i] };
                places[i] = if replaces { place } else { places[i] };
            }
        }
        for (found, ((lane, row), place)) in found.iter_mut().step_by(CHUNK).zip(best.into_iter().zip(rows).zip(places))
        {
            *found = WindowMaximum { lane, row: L::offset(row), column: columns.start + L::offset(place) as usize };
        }
    }

    const ROWS: bool = true;
}

/// The columns from the first to the last of a window, and the step between them.
#[inline(always)]
pub fn reach(taps: Taps) -> (Range<usize>, usize) {
    let (first, step) = (taps.first as usize, taps.step.max(1) as usize);
    (first..first + (taps.count.max(1) as usize - 1) * step + 1, step)
}

#[inline(always)]
fn greatest<'a, L: Lane>(lanes: impl Iterator<Item = &'a L>) -> L {
    lanes.fold(
        L::LOWEST,
        #[inline(always)]
        |best, &lane| best.step(lane, 0),
    )
}

/// The greatest of neighbouring lanes. A chunk of running maxima takes one chunk of lanes after the other; the last
/// chunk may overlap the one before it.
#[inline(always)]
fn greatest_of<L: Lane>(lanes: &[L]) -> L {
    let (chunks, rest) = lanes.as_chunks::<CHUNK>();
    let (Some(last), [first, chunks @ ..]) = (lanes.last_chunk::<CHUNK>(), chunks) else {
        return greatest(rest.iter());
    };
    let mut running = *first;
    for chunk in chunks.iter().chain([last]) {
        for i in 0..CHUNK {
            running[i] = running[i].step(chunk[i], 0);
        }
    }
    greatest_lane(running)
}

/// The number of the first element of a window with this lane, counted in row-major order.
#[inline(always)]
fn earliest<'a, L: Positioned>(
    greatest: L,
    columns: impl Iterator<Item = (&'a L, &'a L::Position)>,
    width: i32,
) -> i32 {
    let mut earliest = i32::MAX;
    for (column, (&lane, &row)) in columns.enumerate() {
        // `applies` ensures that the number fits.
        let number = (L::offset(row) as i32).wrapping_mul(width).wrapping_add(column as i32);
        earliest = earliest.min(if lane == greatest { number } else { i32::MAX });
    }
    earliest
}
