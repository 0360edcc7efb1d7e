//! What is kept of the columns of rows of outputs, and the windows that are found in it.

use std::ops::Range;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use wgpu_pooling_plan::{Element, Taps};

use crate::kernels::lane::Code;
use crate::kernels::lane::Lane;
use crate::kernels::lane::Positioned;
use crate::kernels::lane::greatest_lane;
use crate::kernels::simd::SimdLevel;
use crate::kernels::transpose::Planes;
use crate::kernels::transpose::interleave;

/// Columns that are reduced at once. What is kept of columns is memory for whole such chunks.
pub const CHUNK: usize = 16;

/// The greatest lane of a window, and where rows are kept the number of its row and its column.
#[derive(Clone, Copy)]
pub struct Found<L> {
    pub lane: L,
    pub row: i64,
    pub column: usize,
}

/// What is kept of each column of some rows of outputs.
pub trait Kept<L> {
    /// Takes rows of X into columns: the places of these, and whether they have taken rows before.
    fn reduce<C: Code<Lane = L>>(
        &mut self,
        simd: SimdLevel,
        rows: &[Source<'_, C::Element>],
        into: (Range<usize>, bool),
    );

    /// The greatest lane of some columns, of equal ones the first in row-major order where rows are kept.
    fn window(&self, columns: Taps) -> Found<L>;

    /// The greatest lane of a column, and the number of its row.
    fn column(&self, column: usize) -> (L, i64);

    /// Interleaves the columns of rows of outputs, which are planes here.
    fn interleave(&mut self, simd: SimdLevel, rows: Planes);

    /// What `window` gives, for all rows of outputs whose columns were interleaved: that of row r is written to
    /// `found[r * CHUNK]`.
    fn windows<const TOGETHER: usize>(&self, columns: Taps, found: &mut [Found<L>]);

    /// Whether rows are kept, and with them which of two zeros a lane is.
    const ROWS: bool;
}

/// The greatest lane of each column.
pub struct Values<'a, L> {
    pub best: Columns<'a, L>,
}

/// The greatest lane of each column, and the number of its row.
pub struct WithRows<'a, L: Positioned> {
    pub best: Columns<'a, L>,
    pub rows: Columns<'a, L::Position>,
}

/// Something of each column: the columns of one row of outputs behind those of the other, and interleaved.
pub struct Columns<'a, T> {
    pub own: &'a mut [T],
    pub interleaved: &'a mut [T],
}

impl<T: Pod> Columns<'_, T> {
    fn interleave(&mut self, simd: SimdLevel, rows: Planes) {
        interleave(simd, size_of::<T>(), rows, cast_slice(self.own), cast_slice_mut(self.interleaved));
    }

    /// One column of all rows.
    #[inline(always)]
    fn of_rows<const TOGETHER: usize>(&self, column: usize) -> &[T; TOGETHER] {
        &self.interleaved.as_chunks::<TOGETHER>().0[column]
    }
}

/// A row of X from the first of some columns on, and what columns note where an element of this row is the greatest.
#[derive(Clone, Copy)]
pub struct Source<'a, T> {
    pub x: &'a [T],
    pub row: i64,
}

impl<T: Element> Source<'_, T> {
    /// The elements behind whole chunks.
    #[cold]
    #[inline(never)]
    fn last(&self) -> [T; CHUNK] {
        let (mut chunk, rest) = ([T::zeroed(); CHUNK], self.x.as_chunks::<CHUNK>().1);
        chunk[..rest.len()].copy_from_slice(rest);
        chunk
    }
}

/// Visits the same chunk of columns in each row of X, with the row's note. The last chunk of a row may have elements of
/// what follows in memory: no window has those columns.
#[inline(always)]
fn each_chunk<T: Element>(rows: &[Source<'_, T>], number: usize, mut visit: impl FnMut([T; CHUNK], i64)) {
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

impl<L: Lane> Kept<L> for Values<'_, L> {
    fn reduce<C: Code<Lane = L>>(
        &mut self,
        simd: SimdLevel,
        rows: &[Source<'_, C::Element>],
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
    fn window(&self, columns: Taps) -> Found<L> {
        let (columns, step) = reach(columns);
        let (best, column) = (&self.best.own[columns.clone()], columns.start);
        let lane = if step == 1 { greatest_of(best) } else { greatest(best.iter().step_by(step)) };
        Found { lane, row: 0, column }
    }

    #[inline(always)]
    fn column(&self, column: usize) -> (L, i64) {
        (self.best.own[column], 0)
    }

    fn interleave(&mut self, simd: SimdLevel, rows: Planes) {
        self.best.interleave(simd, rows);
    }

    #[inline(always)]
    fn windows<const TOGETHER: usize>(&self, columns: Taps, found: &mut [Found<L>]) {
        let (columns, step) = reach(columns);
        let mut best = [L::LOWEST; TOGETHER];
        for column in columns.clone().step_by(step) {
            let next = self.best.of_rows::<TOGETHER>(column);
            for i in 0..TOGETHER {
                best[i] = best[i].step(next[i], 0);
            }
        }
        for (found, lane) in found.iter_mut().step_by(CHUNK).zip(best) {
            *found = Found { lane, row: 0, column: columns.start };
        }
    }

    const ROWS: bool = false;
}

impl<L: Positioned> Kept<L> for WithRows<'_, L> {
    fn reduce<C: Code<Lane = L>>(
        &mut self,
        simd: SimdLevel,
        rows: &[Source<'_, C::Element>],
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
    fn window(&self, columns: Taps) -> Found<L> {
        let (width, (columns, step)) = (columns.count.max(1) as i32, reach(columns));
        let (best, rows) = (&self.best.own[columns.clone()], &self.rows.own[columns.clone()]);
        let earliest = if step == 1 {
            earliest(greatest_of(best), best.iter().zip(rows), width)
        } else {
            earliest(greatest(best.iter().step_by(step)), best.iter().zip(rows).step_by(step), width)
        };
        let (row, column) = (earliest / width, columns.start + (earliest % width) as usize * step);
        // This column's lane: another one may have the other zero.
        Found { lane: self.best.own[column], row: row.into(), column }
    }

    #[inline(always)]
    fn column(&self, column: usize) -> (L, i64) {
        (self.best.own[column], L::offset(self.rows.own[column]))
    }

    fn interleave(&mut self, simd: SimdLevel, rows: Planes) {
        self.best.interleave(simd, rows);
        self.rows.interleave(simd, rows);
    }

    #[inline(always)]
    fn windows<const TOGETHER: usize>(&self, columns: Taps, found: &mut [Found<L>]) {
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
            *found = Found { lane, row: L::offset(row), column: columns.start + L::offset(place) as usize };
        }
    }

    const ROWS: bool = true;
}

/// The columns from the first one of a window to its last, and the step.
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

/// The greatest of neighbouring lanes. A chunk of running maxima takes one chunk of them after the other; the last
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

/// The number in the window of its first element with this lane.
#[inline(always)]
fn earliest<'a, L: Positioned>(
    greatest: L,
    columns: impl Iterator<Item = (&'a L, &'a L::Position)>,
    width: i32,
) -> i32 {
    let mut earliest = i32::MAX;
    for (column, (&lane, &row)) in columns.enumerate() {
        // `applies` sees to it that it fits.
        let number = (L::offset(row) as i32).wrapping_mul(width).wrapping_add(column as i32);
        earliest = earliest.min(if lane == greatest { number } else { i32::MAX });
    }
    earliest
}
