//! Pools whose windows hardly overlap, adaptive ones and whole planes: the maxima of columns over the rows of a window,
//! then along the columns.
//!
//! ```text
//! rows of X that the windows of a row of outputs have   a0 a1 a2 a3 a4 a5
//!                                                       b0 b1 b2 b3 b4 b5
//!                                                       c0 c1 c2 c3 c4 c5
//! maxima of columns, each with its row                  b0 c1 a2 a3 c4 b5
//! outputs                                               max of three | max of three
//! ```
//!
//! Of equal elements the one in the earlier row wins, and in a row the earlier one. Within a column the first of equal
//! elements stays, and of the columns that have the maximum the one with the earliest row is looked for, so the winner is
//! the first in row-major order although columns come first. Where no indices are wanted, rows do not matter, but of
//! zeros: the first one is looked for. NaN, -0 and ties with the first element of a window are settled as in the
//! [`separable`](super::separable) kernel: NaN are the lowest lane while columns are reduced, and the winner replaces the
//! window's first element if it is greater than that.
//!
//! In NHWC the channels of a position are the columns, and each of them is an output.

use std::ops::Range;

use bytemuck::{Zeroable, cast_slice, cast_slice_mut};

use super::general;
use super::lane::{
    Code, Lane, OfBf16, OfF16, OfF32, OfF64, OfI8, OfI16, OfI32, OfI64, OfU8, OfU16, OfU32, OfU64, Positioned,
    WideBf16, WideF16, Widened, greatest_lane, has_nan, with_code,
};
use super::parts::PartOf;
use super::scratch::Scratch;
use super::simd::SimdLevel;
use super::view::{View, ViewAxis, nan_wins};
use crate::activation::apply_to_all;
use crate::element::{DType, Element, Index};
use crate::error::ExecuteError;
use crate::geometry::Taps;
use crate::options::NanPolicy;
use crate::plan::{MAX_SPATIAL_AXES, PoolPlan};

/// The most columns.
const MOST_COLUMNS: usize = 1 << 16;
/// Columns that are reduced at once. What is kept of columns is memory for whole such chunks.
const CHUNK: usize = 16;
/// Rows that a chunk of columns takes from one load and store of its maxima to the next.
const AT_ONCE: usize = 8;

/// The reason why not, for plans that this kernel does not compute.
pub(crate) fn applies(plan: &PoolPlan, view: &View) -> Result<(), &'static str> {
    if plan.ignores_nan() {
        return Err("it is a part of a window");
    }
    if plan.has_empty_windows() {
        return Err("windows are empty");
    }
    if columns(view) > MOST_COLUMNS {
        return Err("its rows are too long");
    }
    // What an element adds to the index of the first one of its window, or its number in the window, has 32 bits.
    let span = |axis: &ViewAxis| (axis.input as i64).saturating_mul(axis.index_stride.saturating_abs());
    if view.inner != 1 && view.axes.iter().map(span).fold(0, i64::saturating_add) > i32::MAX.into() {
        return Err("its indices are too far apart");
    }
    if view.most_taps() > i32::MAX as u64 {
        return Err("its windows have too many elements");
    }
    Ok(())
}

/// Elements of a row of X: along the last axis, or the channels of a position.
fn columns(view: &View) -> usize {
    if view.inner == 1 { view.axes[view.axes.len() - 1].input } else { view.inner }
}

/// The number of axes that lead from row to row.
fn outer_axes(view: &View) -> usize {
    if view.inner == 1 { view.axes.len() - 1 } else { view.axes.len() }
}

/// Computes a part of Y, and of Indices in the order of Y. The slices have the plan's element type.
pub(crate) fn pool<I: Index>(
    part: &PartOf<'_>,
    x: &[u8],
    y: &mut [u8],
    indices: Option<&mut [I]>,
    scratch: &mut Scratch,
) -> Result<(), ExecuteError> {
    let Some(indices) = indices else { return values(part, x, y, scratch) };
    let lanes = columns(part.view).next_multiple_of(CHUNK);
    macro_rules! run {
        ($code:ty) => {{
            // Lanes and positions have one width.
            let (best, rows) = scratch.elements::<<$code as Code>::Lane>(2 * lanes)?.split_at_mut(lanes);
            let kept = WithRows { best, rows: cast_slice_mut(rows) };
            Rows::<$code, _>::of(part, cast_slice(x), kept).run(cast_slice_mut(y), Some(indices));
            Ok(())
        }};
    }
    with_code!(part.plan.dtype(), run:
        F32 => OfF32, F64 => OfF64, F16 => WideF16, Bf16 => WideBf16,
        I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => Widened<i8>, U8 => Widened<u8>, I16 => Widened<i16>, U16 => Widened<u16>,
    );
    Ok(())
}

/// Computes a part of Y alone: compiled once, and not for each type of indices.
fn values(part: &PartOf<'_>, x: &[u8], y: &mut [u8], scratch: &mut Scratch) -> Result<(), ExecuteError> {
    let lanes = columns(part.view).next_multiple_of(CHUNK);
    macro_rules! run {
        ($code:ty) => {{
            let best = scratch.elements::<<$code as Code>::Lane>(lanes)?;
            Rows::<$code, _>::of(part, cast_slice(x), Values { best }).run(cast_slice_mut(y), None::<&mut [i64]>);
            Ok(())
        }};
    }
    with_code!(part.plan.dtype(), run:
        F32 => OfF32, F64 => OfF64, F16 => OfF16, Bf16 => OfBf16,
        I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => OfI8, U8 => OfU8, I16 => OfI16, U16 => OfU16,
    );
    Ok(())
}

/// The greatest lane of a window, and where rows are kept the number of its row and its column.
#[derive(Clone, Copy)]
struct Found<L> {
    lane: L,
    row: i64,
    column: usize,
}

/// What is kept of each column of a row of outputs.
trait Kept<L> {
    /// Takes rows of X, given where they begin and the number of each; the first one of the columns if it is not `more`.
    fn reduce<C: Code<Lane = L>>(&mut self, simd: SimdLevel, x: &[C::Element], rows: &[(usize, i64)], more: bool);

    /// The greatest lane of some columns, of equal ones the first in row-major order where rows are kept.
    fn window(&self, columns: Taps) -> Found<L>;

    /// The greatest lane of a column, and the number of its row.
    fn column(&self, column: usize) -> (L, i64);

    /// Whether rows are kept, and with them which of two zeros a lane is.
    const ROWS: bool;
}

/// The greatest lane of each column.
struct Values<'a, L> {
    best: &'a mut [L],
}

/// The greatest lane of each column, and the number of its row.
struct WithRows<'a, L: Positioned> {
    best: &'a mut [L],
    rows: &'a mut [L::Position],
}

/// The elements of a chunk of columns. It may read on into what follows the row: those columns have no window.
#[inline(always)]
fn chunk<T: Element>(x: &[T], place: usize) -> [T; CHUNK] {
    let rest = x.get(place..).unwrap_or_default();
    if let Some(chunk) = rest.first_chunk() {
        return *chunk;
    }
    let mut chunk = [T::zeroed(); CHUNK];
    chunk[..rest.len()].copy_from_slice(rest);
    chunk
}

impl<L: Lane> Kept<L> for Values<'_, L> {
    fn reduce<C: Code<Lane = L>>(&mut self, simd: SimdLevel, x: &[C::Element], rows: &[(usize, i64)], more: bool) {
        simd.run(
            #[inline(always)]
            || {
                for (number, best) in self.best.as_chunks_mut::<CHUNK>().0.iter_mut().enumerate() {
                    let mut own = if more { *best } else { [L::LOWEST; CHUNK] };
                    for &(place, _) in rows {
                        let chunk = chunk(x, place + number * CHUNK);
                        for i in 0..CHUNK {
                            own[i] = own[i].step(C::encode(chunk[i]), 0);
                        }
                    }
                    *best = own;
                }
            },
        );
    }

    #[inline(always)]
    fn window(&self, columns: Taps) -> Found<L> {
        let (columns, step) = reach(columns);
        let (best, column) = (&self.best[columns.clone()], columns.start);
        let lane = if step == 1 { greatest_of(best) } else { greatest(best.iter().step_by(step)) };
        Found { lane, row: 0, column }
    }

    #[inline(always)]
    fn column(&self, column: usize) -> (L, i64) {
        (self.best[column], 0)
    }

    const ROWS: bool = false;
}

impl<L: Positioned> Kept<L> for WithRows<'_, L> {
    fn reduce<C: Code<Lane = L>>(&mut self, simd: SimdLevel, x: &[C::Element], rows: &[(usize, i64)], more: bool) {
        simd.run(
            #[inline(always)]
            || {
                let best = self.best.as_chunks_mut::<CHUNK>().0.iter_mut();
                for (number, (best, row_of)) in best.zip(self.rows.as_chunks_mut::<CHUNK>().0).enumerate() {
                    let (mut own, mut own_rows) =
                        if more { (*best, *row_of) } else { ([L::LOWEST; CHUNK], [L::position(0); CHUNK]) };
                    for &(place, row) in rows {
                        let (chunk, row) = (chunk(x, place + number * CHUNK), L::position(row));
                        for i in 0..CHUNK {
                            let lane = C::encode(chunk[i]);
                            own_rows[i] = L::select(own[i], lane, own_rows[i], row);
                            own[i] = own[i].step(lane, 0);
                        }
                    }
                    (*best, *row_of) = (own, own_rows);
                }
            },
        );
    }

    #[inline(always)]
    fn window(&self, columns: Taps) -> Found<L> {
        let (width, (columns, step)) = (columns.count.max(1) as i32, reach(columns));
        let (best, rows) = (&self.best[columns.clone()], &self.rows[columns.clone()]);
        let earliest = if step == 1 {
            earliest(greatest_of(best), best.iter().zip(rows), width)
        } else {
            earliest(greatest(best.iter().step_by(step)), best.iter().zip(rows).step_by(step), width)
        };
        let (row, column) = (earliest / width, columns.start + (earliest % width) as usize * step);
        // This column's lane: another one may have the other zero.
        Found { lane: self.best[column], row: row.into(), column }
    }

    #[inline(always)]
    fn column(&self, column: usize) -> (L, i64) {
        (self.best[column], L::offset(self.rows[column]))
    }

    const ROWS: bool = true;
}

/// The columns from the first one of a window to its last, and the step.
#[inline(always)]
fn reach(taps: Taps) -> (Range<usize>, usize) {
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

/// The greatest of neighbouring lanes. A chunk of running maxima takes one chunk of them after the other; the last chunk may overlap
/// the one before it.
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

/// The rows that taps along the axes before the last one have: where each begins after the first one, and what it adds to the
/// first one's index.
fn rows<'a>(taps: &'a [Taps], axes: &'a [ViewAxis]) -> impl Iterator<Item = (usize, i64)> + 'a {
    let total = taps.iter().map(|taps| taps.count).product::<i64>();
    let (mut at, mut place, mut index) = ([0; MAX_SPATIAL_AXES], 0, 0i64);
    (0..total).map(move |_| {
        let row = (place, index);
        for ((at, taps), axis) in at[..taps.len()].iter_mut().zip(taps).zip(axes).rev() {
            let along = |steps: i64| {
                let positions = steps * taps.step;
                (positions as usize * axis.x_stride, positions.wrapping_mul(axis.index_stride))
            };
            *at += 1;
            if *at < taps.count {
                let (ahead, adds) = along(1);
                (place, index) = (place + ahead, index.wrapping_add(adds));
                break;
            }
            let (back, adds) = along(*at - 1);
            (place, index) = (place - back, index.wrapping_sub(adds));
            *at = 0;
        }
        row
    })
}

/// The rows of outputs of a part.
struct Rows<'a, C: Code, K> {
    part: &'a PartOf<'a>,
    x: &'a [C::Element],
    kept: K,
    /// The element that windows begin with instead of their first.
    seed: Option<C::Element>,
    nan_wins: bool,
    /// The taps of the windows along each axis, along the first one from the part's first output on.
    taps: Vec<Vec<Taps>>,
}

/// A row of outputs: its plane of X, that plane's first index, the outputs and the taps of its axes but those along the
/// row, and the place of the first row of X in the plane.
struct Row<'a, T> {
    x: &'a [T],
    index: i64,
    out: &'a mut [usize; MAX_SPATIAL_AXES],
    taps: &'a [Taps],
    first: usize,
}

impl<'a, C: Code, K: Kept<C::Lane>> Rows<'a, C, K> {
    fn of(part: &'a PartOf<'a>, x: &'a [C::Element], kept: K) -> Self {
        let PartOf { plan, view, .. } = *part;
        let seed = (plan.nan_policy == NanPolicy::SeedLowest).then(|| plan.seed());
        let nan_wins = nan_wins(plan);
        let of_axis = |(number, axis): (usize, &ViewAxis)| {
            let outputs = if number == 0 { part.part.rows.clone() } else { 0..axis.output };
            outputs.map(|output| axis.taps(output)).collect()
        };
        let taps = view.axes.iter().enumerate().map(of_axis).collect();
        Rows { part, x, kept, seed, nan_wins, taps }
    }

    fn run<I: Index>(mut self, y: &mut [C::Element], mut indices: Option<&mut [I]>) {
        let view = self.part.view;
        let (outer, start) = (outer_axes(view), self.part.part.rows.start);
        let length = if view.inner == 1 { self.taps[outer].len() } else { view.inner };
        let mut written = 0;
        for plane in self.part.part.outer.clone() {
            let (x, index) = (&self.x[plane * view.plane()..], view.index_of_plane(plane));
            // Counted from the part's first output on.
            let mut out = [0; MAX_SPATIAL_AXES];
            loop {
                let mut taps = [Taps { first: 0, count: 1, step: 1 }; MAX_SPATIAL_AXES];
                (0..outer).for_each(|axis| taps[axis] = self.taps[axis][out[axis]]);
                let taps = &taps[..outer];
                let first = taps.iter().zip(&view.axes).map(|(taps, axis)| taps.first as usize * axis.x_stride).sum();
                let mut of_view = out;
                of_view[0] += start;
                let row = Row { x, index, out: &mut of_view, taps, first };
                let y = &mut y[written..written + length];
                let indices = indices.as_mut().map(|indices| &mut indices[written..written + length]);
                match (self.reduce(&row), view.inner) {
                    (true, _) => self.general(row, y, indices),
                    (false, 1) => self.windows(&row, y, indices),
                    (false, _) => self.channels(&row, y, indices),
                }
                written += length;
                let next = (0..outer).rev().find(|&axis| out[axis] + 1 < self.taps[axis].len());
                let Some(axis) = next else { break };
                out[axis] += 1;
                out[axis + 1..outer].fill(0);
            }
        }
    }

    /// Reduces the columns of a row of outputs. Says that the last NaN of a window may have to win.
    ///
    /// Compiled once, and not for each type of indices; so is `found`.
    #[inline(never)]
    fn reduce(&mut self, row: &Row<'_, C::Element>) -> bool {
        let (view, simd) = (self.part.view, self.part.simd);
        let (columns, outer) = (columns(view), outer_axes(view));
        let mut rows = rows(row.taps, &view.axes[..outer]).enumerate();
        let mut more = false;
        loop {
            let mut together = [(0, 0); AT_ONCE];
            let mut count = 0;
            for (slot, (number, (ahead, index))) in together.iter_mut().zip(rows.by_ref()) {
                // Channels are outputs, and their indices are what the row adds; along a row of columns the first row wins.
                *slot = (row.first + ahead, if view.inner == 1 { number as i64 } else { index });
                count += 1;
            }
            if count == 0 {
                return false;
            }
            let together = &together[..count];
            self.kept.reduce::<C>(simd, row.x, together, more);
            // Rows are in cache once they are reduced, and only then does it take little time to look for NaN.
            // What lies between rows is looked at with them where it is less than they are.
            let (first, last) = (together[0].0, together[count - 1].0);
            let (rows, length) = match last - first < 2 * columns * (count - 1) {
                true => (&together[..1], last - first + columns),
                false => (together, columns),
            };
            if self.nan_wins && rows.iter().any(|&(place, _)| has_nan(simd, &row.x[place..place + length])) {
                return true;
            }
            more = true;
        }
    }

    /// What windows along the row have.
    #[inline(never)]
    fn found(&self, along: &[Taps], found: &mut [Found<C::Lane>; CHUNK]) {
        self.part.simd.run(
            #[inline(always)]
            || {
                for (found, &taps) in found.iter_mut().zip(along) {
                    *found = self.kept.window(taps);
                }
            },
        );
    }

    /// The outputs whose windows are along the row.
    fn windows<I: Index>(&self, row: &Row<'_, C::Element>, y: &mut [C::Element], mut indices: Option<&mut [I]>) {
        let PartOf { plan, view, .. } = *self.part;
        let axis = view.axes.len() - 1;
        let along = &self.taps[axis];
        let mut found = [Found { lane: C::Lane::LOWEST, row: 0, column: 0 }; CHUNK];
        for (number, along) in along.chunks(CHUNK).enumerate() {
            self.found(along, &mut found);
            for (i, (found, &taps)) in found.iter().zip(along).enumerate() {
                let place = number * CHUNK + i;
                let own = row.x[row.first + taps.first as usize];
                let won = self.wins(found.lane, own);
                y[place] = self.value(row, taps, won.then_some(found.lane), own);
                if let Some(indices) = &mut indices {
                    let (column, number) = if won { (found.column, found.row) } else { (taps.first as usize, 0) };
                    let index = self.index_of_row(row, number);
                    let index = index.wrapping_add((column as i64).wrapping_mul(view.axes[axis].index_stride));
                    let index = if won || self.seed.is_none() { index } else { view.unit_base };
                    indices[place] = I::from_i64(index.wrapping_add(row.index));
                }
            }
        }
        apply_to_all(plan.activation, y);
    }

    /// The outputs whose windows are columns.
    fn channels<I: Index>(&self, row: &Row<'_, C::Element>, y: &mut [C::Element], mut indices: Option<&mut [I]>) {
        let PartOf { plan, view, .. } = *self.part;
        let of_first = self.index_of_row(row, 0);
        for (channel, y) in y.iter_mut().enumerate() {
            let (own, (lane, adds)) = (row.x[row.first + channel], self.kept.column(channel));
            let won = self.wins(lane, own);
            let taps = Taps { first: channel as i64, count: 1, step: 1 };
            *y = self.value(row, taps, won.then_some(lane), own);
            if let Some(indices) = &mut indices {
                let index = of_first.wrapping_add(if won { adds } else { 0 });
                let index = if won || self.seed.is_none() { index } else { view.unit_base };
                let of_channel = row.index.wrapping_add((channel as i64).wrapping_mul(view.index_c));
                indices[channel] = I::from_i64(index.wrapping_add(of_channel));
            }
        }
        apply_to_all(plan.activation, y);
    }

    /// Whether the greatest lane replaces what the window begins with, given its first element.
    #[inline(always)]
    fn wins(&self, greatest: C::Lane, first: C::Element) -> bool {
        let first = self.seed.unwrap_or(first);
        !first.is_nan() && greatest > C::encode(first)
    }

    /// The element of Y, given the taps of its window along the row, the lane that won, and the first element.
    #[inline(always)]
    fn value(&self, row: &Row<'_, C::Element>, along: Taps, won: Option<C::Lane>, first: C::Element) -> C::Element {
        match won {
            None => self.seed.unwrap_or(first),
            Some(lane) if !K::ROWS && C::Element::DTYPE.is_float() && lane == C::encode(C::Element::zeroed()) => {
                self.first_zero(row, along)
            }
            Some(lane) => C::decode(lane),
        }
    }

    /// The first zero of a window that has one.
    #[cold]
    fn first_zero(&self, row: &Row<'_, C::Element>, along: Taps) -> C::Element {
        let zero = C::encode(C::Element::zeroed());
        let elements = rows(row.taps, &self.part.view.axes[..row.taps.len()])
            .flat_map(|(ahead, _)| along.positions().map(move |column| row.x[row.first + ahead + column as usize]));
        let mut zeros = elements.filter(|&element| C::encode(element) == zero);
        zeros.next().unwrap_or_else(C::Element::zeroed)
    }

    /// The index of the first element of a row of X, given the row's number among those of the window, in the first plane.
    #[inline(always)]
    fn index_of_row(&self, row: &Row<'_, C::Element>, mut number: i64) -> i64 {
        let mut index = self.part.view.index_base;
        for (axis, (taps, of_view)) in row.taps.iter().zip(&self.part.view.axes).enumerate().rev() {
            let tap = if axis == 0 { number } else { number % taps.count };
            if axis > 0 {
                number /= taps.count;
            }
            let position = taps.first + tap * taps.step;
            index = index.wrapping_add(position.wrapping_mul(of_view.index_stride));
        }
        index
    }

    /// A row of outputs by the general kernel.
    fn general<I: Index>(&self, row: Row<'_, C::Element>, y: &mut [C::Element], mut indices: Option<&mut [I]>) {
        let PartOf { plan, view, part, .. } = *self.part;
        let of_row = outer_axes(view);
        let indices_of = |of_plane: i64| (of_plane, view.unit_base.wrapping_add(of_plane));
        for (number, y) in y.iter_mut().enumerate() {
            let (value, index) = if view.inner == 1 {
                // Along the first axis, outputs are counted from the part's first one on.
                row.out[of_row] = number + if of_row == 0 { part.rows.start } else { 0 };
                general::window(plan, view, row.out, row.x, indices_of(row.index))
            } else {
                let channel = (number as i64).wrapping_mul(view.index_c);
                general::window(plan, view, row.out, &row.x[number..], indices_of(row.index.wrapping_add(channel)))
            };
            *y = value;
            if let Some(indices) = &mut indices {
                indices[number] = I::from_i64(index);
            }
        }
    }
}
