//! Pools with small windows: a row of outputs takes the taps of one row of X after the other, straight from X.
//!
//! ```text
//! y[i]  begins with x[0][2i], then takes x[0][2i + 1], x[0][2i + 2], x[1][2i], .. where they are greater
//! ```
//!
//! Taps are taken in row-major order, each only if it is greater than what is there, which is the rule itself: the first tap
//! keeps its place if it is NaN, and a zero keeps its sign. Where NaN wins, a tap is also taken if it is NaN; nothing is greater
//! than it, so it stays until the next NaN. Rows of taps in the padding are left out; outputs whose windows begin or end in
//! the padding of the innermost axis are computed one by one.

use std::ops::Range;

use bytemuck::{Zeroable, cast_slice, cast_slice_mut};

use super::axes::{Axis, MOST_INDEX, axes, index_span};
use super::lane::{Code, Lane, OfF32, OfF64, OfI8, OfI16, OfI32, OfU8, OfU16, OfU32, Positioned};
use super::parts::PartOf;
use super::scratch::Scratch;
use super::simd::SimdLevel;
use super::view::View;
use crate::activation::apply_to_all;
use crate::element::{DType, Element, Index};
use crate::error::ExecuteError;
use crate::options::NanPolicy;
use crate::plan::PoolPlan;

/// The most rows of X that a window touches.
const MOST_ROWS: usize = 9;
/// Channels that are too few for a loop over those of one position.
const FEW_CHANNELS: usize = 8;
/// Outputs of a group of rows.
const GROUP: usize = 4096;

/// A pool with small windows.
#[derive(Debug)]
pub(crate) struct Direct {
    axes: Vec<Axis>,
    /// Outputs of a row whose windows lie inside X.
    inside: Range<usize>,
    nan_wins: bool,
}

/// Rows of X that a row of outputs takes taps from: the place of the first tap of the window of output 0, padding included, and
/// what the row adds to the index.
#[derive(Debug, Default)]
struct Rows {
    count: usize,
    places: [i64; MOST_ROWS],
    ahead: [i64; MOST_ROWS],
}

impl Direct {
    /// The reason why not, for plans that it does not compute.
    pub fn new(plan: &PoolPlan, view: &View) -> Result<Direct, &'static str> {
        use DType::{F32, F64, I8, I16, I32, U8, U16, U32};
        let dtypes: &[DType] = match plan.indices {
            None => &[F32, F64, I32, U32, I8, U8, I16, U16],
            Some(_) => &[F32, F64, I32, U32],
        };
        if !dtypes.contains(&plan.dtype()) {
            return Err("there is no loop for its elements");
        }
        let seeds_lowest = plan.nan_policy == NanPolicy::SeedLowest;
        if plan.ignores_nan() || seeds_lowest && (plan.dtype().is_float() || plan.indices.is_some()) {
            return Err("its windows do not begin with their first elements");
        }
        let axes = axes(view)?;
        let (last, outer) = axes.split_last().ok_or("it has no axis")?;
        if plan.has_empty_windows() {
            return Err("windows are empty");
        }
        if view.inner != 1 && view.inner < FEW_CHANNELS {
            return Err("it has few channels");
        }
        if last.kernel > 1 && last.dilation > 1 || !SHAPES.contains(&(last.kernel, last.stride)) {
            return Err("there is no loop for its innermost windows");
        }
        if outer.iter().map(|axis| axis.kernel).product::<usize>() > MOST_ROWS {
            return Err("its windows have too many rows");
        }
        if index_span(&axes) > MOST_INDEX {
            return Err("its indices are too far apart");
        }
        // Windows inside X are neighbours.
        let begin = (0..last.output).find(|&output| last.is_inside(output)).unwrap_or(0);
        let end = (begin..last.output).rev().find(|&output| last.is_inside(output)).map_or(begin, |output| output + 1);
        let inside = begin..end;
        let nan_wins = plan.nan_policy == NanPolicy::PropagateLast && plan.dtype().is_float();
        Ok(Direct { axes, inside, nan_wins })
    }

    /// Computes a part of Y, and of Indices in the order of Y. The slices have the plan's element type.
    pub fn run<I: Index>(
        &self,
        part: &PartOf<'_>,
        x: &[u8],
        y: &mut [u8],
        indices: Option<&mut [I]>,
        scratch: &mut Scratch,
    ) -> Result<(), ExecuteError> {
        macro_rules! values {
            ($code:ty) => {
                self.values::<$code>(part, cast_slice(x), cast_slice_mut(y))
            };
        }
        macro_rules! placed {
            ($code:ty) => {
                match indices {
                    None => values!($code),
                    Some(own) => self.placed::<$code, I>(part, cast_slice(x), cast_slice_mut(y), own, scratch)?,
                }
            };
        }
        match part.plan.dtype() {
            DType::F32 => placed!(OfF32),
            DType::F64 => placed!(OfF64),
            DType::I32 => placed!(OfI32),
            DType::U32 => placed!(OfU32),
            DType::U8 => values!(OfU8),
            DType::I8 => values!(OfI8),
            DType::I16 => values!(OfI16),
            DType::U16 => values!(OfU16),
            // `new` refuses them.
            _ => {}
        }
        Ok(())
    }

    /// The outputs of a part along the innermost axis, and its rows along each outer axis.
    fn ranges(&self, part: &PartOf<'_>) -> (Vec<Range<usize>>, Range<usize>) {
        let rest = self.axes[2..].iter().map(|axis| 0..axis.output);
        let mut ranges: Vec<_> = [part.part.outer.clone(), part.part.rows.clone()].into_iter().chain(rest).collect();
        let lanes = ranges.pop().unwrap_or(0..0);
        (ranges, lanes)
    }

    /// Visits groups of rows of outputs: their rows of X, the number of rows, and the outputs of a row.
    fn each_group(&self, part: &PartOf<'_>, mut visit: impl FnMut(&Rows, i64, usize, Range<usize>)) {
        let view = part.view;
        let (ranges, lanes) = self.ranges(part);
        let outer = self.axes.len() - 1;
        let mut at: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        let (mut rows, mut base) = self.rows(view, &at);
        loop {
            let count = self.group(&at, &ranges, &lanes);
            visit(&rows, base, count, lanes.clone());
            at[outer - 1] += count - 1;
            let Some(axis) = (0..outer).rev().find(|&axis| at[axis] + 1 < ranges[axis].end) else { return };
            at[axis] += 1;
            (axis + 1..outer).for_each(|inner| at[inner] = ranges[inner].start);
            // Inside X the rows of the next output are as far apart.
            let (innermost, number) = (&self.axes[outer - 1], at[outer - 1]);
            if axis == outer - 1 && axis > 0 && innermost.is_inside(number - count) && innermost.is_inside(number) {
                let further = (count * innermost.stride) as i64;
                rows.places[..rows.count].iter_mut().for_each(|place| *place += further * innermost.x_stride as i64);
                base = base.wrapping_add(further.wrapping_mul(innermost.index_stride));
            } else {
                (rows, base) = self.rows(view, &at);
            }
        }
    }

    /// The rows of X of a row of outputs, and the index of the first tap of the window of output 0.
    fn rows(&self, view: &View, at: &[usize]) -> (Rows, i64) {
        let last = &self.axes[at.len()];
        let mut rows = Rows { count: 1, ..Rows::default() };
        rows.places[0] = last.start(0) * last.x_stride as i64;
        let mut base = view.index_base.wrapping_add(view.index_of_plane(at[0]));
        base = base.wrapping_add(last.start(0).wrapping_mul(last.index_stride));
        for (number, axis) in self.axes[..at.len()].iter().enumerate() {
            rows.extend(axis, at[number], number > 0);
            if number > 0 {
                base = base.wrapping_add(axis.start(at[number]).wrapping_mul(axis.index_stride));
            }
        }
        (rows, base)
    }

    /// The number of rows from this one on that lie in X and in Y as one long row: each begins where the one before ends.
    fn group(&self, at: &[usize], ranges: &[Range<usize>], lanes: &Range<usize>) -> usize {
        let number = at.len() - 1;
        let (last, axis) = (&self.axes[number + 1], &self.axes[number]);
        let long = last.stride == 1 && axis.stride == 1 && last.output == last.input && lanes.len() == last.output;
        if !long || number == 0 || last.output > GROUP {
            return 1;
        }
        let most = (GROUP / last.output).min(ranges[number].end - at[number]);
        (0..most).take_while(|row| axis.is_inside(at[number] + row)).count().max(1)
    }

    /// The outputs of a group that one loop computes, among its neighbours in memory: those whose windows lie inside, and
    /// what lies between them. Behind them the loop may read whole steps.
    fn loop_over(&self, rows: &Rows, count: usize, lanes: &Range<usize>, x_length: usize) -> Range<usize> {
        let last = &self.axes[self.axes.len() - 1];
        let begin = self.inside.start.max(lanes.start);
        let end = self.inside.end.min(lanes.end);
        if begin >= end {
            return 0..0;
        }
        let length = (count - 1) * lanes.len() + end - begin;
        let steps = last.kernel.div_ceil(last.stride) - 1;
        let furthest = rows.places[..rows.count].iter().max().copied().unwrap_or(0) + (begin * last.stride) as i64;
        let room = (x_length as i64 - furthest) as usize / last.stride;
        begin - lanes.start..begin - lanes.start + length.min(room.saturating_sub(steps))
    }

    fn values<C: Code>(&self, part: &PartOf<'_>, x: &[C::Element], y: &mut [C::Element]) {
        let last = &self.axes[self.axes.len() - 1];
        let mut place = 0;
        self.each_group(part, |rows, _, count, lanes| {
            let own = &mut y[place..place + count * lanes.len()];
            place += own.len();
            let inside = self.loop_over(rows, count, &lanes, x.len());
            if !inside.is_empty() {
                let first = ((lanes.start + inside.start) * last.stride) as i64;
                for (number, row) in rows.places[..rows.count].iter().enumerate() {
                    let row = &x[(row + first) as usize..];
                    take::<C>(part.simd, last, &mut own[inside.clone()], row, number > 0, self.nan_wins);
                }
            }
            self.each_border(&inside, count, &lanes, |row, lane| {
                own[row * lanes.len() + lane] = self.maximum::<C>(rows, x, row, lanes.start + lane);
            });
            apply_to_all(part.plan.activation, own);
        });
    }

    fn placed<C: Code, I: Index>(
        &self,
        part: &PartOf<'_>,
        x: &[C::Element],
        y: &mut [C::Element],
        indices: &mut [I],
        scratch: &mut Scratch,
    ) -> Result<(), ExecuteError>
    where
        C::Lane: Positioned,
    {
        let last = &self.axes[self.axes.len() - 1];
        let row_above = &self.axes[self.axes.len() - 2];
        let (_, lanes) = self.ranges(part);
        let positions = scratch.elements::<<C::Lane as Positioned>::Position>(lanes.len().max(GROUP))?;
        let mut place = 0;
        self.each_group(part, |rows, base, count, lanes| {
            let range = place..place + count * lanes.len();
            place = range.end;
            let (own, own_indices) = (&mut y[range.clone()], &mut indices[range]);
            let inside = self.loop_over(rows, count, &lanes, x.len());
            if !inside.is_empty() {
                let first = ((lanes.start + inside.start) * last.stride) as i64;
                let (own, at) = (&mut own[inside.clone()], &mut positions[inside.clone()]);
                for (number, row) in rows.places[..rows.count].iter().enumerate() {
                    let row = &x[(row + first) as usize..];
                    let ahead = [0, 1, 2, 3].map(|tap| C::Lane::position(rows.ahead[number] + tap * last.index_stride));
                    take_placed::<C>(part.simd, last, (own, at), row, ahead, number > 0, self.nan_wins);
                }
            }
            let step = last.stride as i64 * last.index_stride;
            let base_of = |row: usize, lane: usize| {
                let above = if row == 0 { 0 } else { row as i64 * row_above.index_stride };
                base + above + (lanes.start + lane) as i64 * step
            };
            for row in 0..count {
                // What of the loop lies in this row.
                let begin = inside.start.max(row * lanes.len());
                let end = inside.end.min((row + 1) * lanes.len());
                if begin < end {
                    let (at, to) = (&positions[begin..end], &mut own_indices[begin..end]);
                    finish::<C::Lane, I>(part.simd, to, at, base_of(row, begin - row * lanes.len()), step);
                }
            }
            self.each_border(&inside, count, &lanes, |row, lane| {
                let (value, offset) = self.window::<C>(rows, x, row, lanes.start + lane);
                own[row * lanes.len() + lane] = value;
                own_indices[row * lanes.len() + lane] = I::from_i64(base_of(row, lane) + offset);
            });
            apply_to_all(part.plan.activation, own);
        });
        Ok(())
    }

    /// Visits the outputs of a group that no loop computed, or for which it took what lies between two rows.
    fn each_border(
        &self,
        inside: &Range<usize>,
        count: usize,
        lanes: &Range<usize>,
        mut visit: impl FnMut(usize, usize),
    ) {
        let begin = self.inside.start.clamp(lanes.start, lanes.end) - lanes.start;
        let end = self.inside.end.clamp(lanes.start + begin, lanes.end) - lanes.start;
        for row in 0..count {
            // The last outputs of a group may have been left out for want of room in X.
            let reached = inside.end.saturating_sub(row * lanes.len()).clamp(begin, end);
            let reached = if inside.is_empty() { begin } else { reached };
            (0..begin).for_each(|lane| visit(row, lane));
            (reached..lanes.len()).for_each(|lane| visit(row, lane));
        }
    }

    /// The taps of an output's window along the innermost axis that lie inside X, and how much further than those of a
    /// group's first output they begin.
    fn border(&self, row: usize, output: usize) -> (Range<i64>, i64) {
        let last = &self.axes[self.axes.len() - 1];
        let start = last.start(output);
        let taps = (-start).max(0)..(last.input as i64 - start).min(last.kernel as i64);
        let further = (row * last.input + output * last.stride) as i64 + taps.start;
        (taps, further)
    }

    /// The element of Y of one output, without a branch that depends on elements.
    #[inline]
    fn maximum<C: Code>(&self, rows: &Rows, x: &[C::Element], row: usize, output: usize) -> C::Element {
        let (taps, further) = self.border(row, output);
        let row = |place: i64| &x[(place + further) as usize..][..(taps.end - taps.start) as usize];
        // No window is empty.
        let mut best = row(rows.places[0])[0];
        for &place in &rows.places[..rows.count] {
            for &next in row(place) {
                let stepped = C::decode(C::encode(best).step(C::encode(next), 0));
                best = if self.nan_wins && next.is_nan() { next } else { stepped };
            }
        }
        best
    }

    /// The element of Y of one output, and what its tap adds to the index of the window's first one.
    #[inline]
    fn window<C: Code>(&self, rows: &Rows, x: &[C::Element], row: usize, output: usize) -> (C::Element, i64) {
        let last = &self.axes[self.axes.len() - 1];
        let (taps, further) = self.border(row, output);
        let length = (taps.end - taps.start) as usize;
        let (mut best, mut won) = (None, 0);
        for (place, ahead) in rows.places.iter().zip(&rows.ahead).take(rows.count) {
            let row = &x[(place + further) as usize..][..length];
            let mut value = best.unwrap_or(row[0]);
            if best.is_none() {
                won = ahead + taps.start * last.index_stride;
            }
            for (tap, &next) in row.iter().enumerate() {
                if C::encode(next) > C::encode(value) || self.nan_wins && next.is_nan() {
                    value = next;
                    won = ahead + (taps.start + tap as i64) * last.index_stride;
                }
            }
            best = Some(value);
        }
        // No window is empty.
        (best.unwrap_or(C::Element::zeroed()), won)
    }
}

impl Rows {
    /// Multiplies the rows with the taps of a further axis.
    fn extend(&mut self, axis: &Axis, output: usize, spatial: bool) {
        let before = Rows { count: self.count, ..*self };
        self.count = 0;
        for (place, ahead) in before.places.iter().zip(&before.ahead).take(before.count) {
            for tap in 0..axis.kernel {
                let position = axis.start(output) + (tap * axis.dilation) as i64;
                if (0..axis.input as i64).contains(&position) && self.count < MOST_ROWS {
                    self.places[self.count] = place + position * axis.x_stride as i64;
                    let own = (tap * axis.dilation) as i64 * axis.index_stride;
                    self.ahead[self.count] = ahead + if spatial { own } else { 0 };
                    self.count += 1;
                }
            }
        }
    }
}

/// Kernels and strides of the innermost axis for which there is a loop.
const SHAPES: &[(usize, usize)] = &[(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (4, 4)];

macro_rules! by_shape {
    ($axis:expr, $more:expr, $nan_wins:expr, $function:ident, $code:ty, $run:expr, $arguments:tt) => {
        match ($axis.kernel, $axis.stride) {
            (1, 1) => by_shape!(@ $more, $nan_wins, $function, $code, 1, 1, $run, $arguments),
            (2, 1) => by_shape!(@ $more, $nan_wins, $function, $code, 2, 1, $run, $arguments),
            (2, 2) => by_shape!(@ $more, $nan_wins, $function, $code, 2, 2, $run, $arguments),
            (3, 1) => by_shape!(@ $more, $nan_wins, $function, $code, 3, 1, $run, $arguments),
            (3, 2) => by_shape!(@ $more, $nan_wins, $function, $code, 3, 2, $run, $arguments),
            (3, 3) => by_shape!(@ $more, $nan_wins, $function, $code, 3, 3, $run, $arguments),
            (4, 4) => by_shape!(@ $more, $nan_wins, $function, $code, 4, 4, $run, $arguments),
            _ => {}
        }
    };
    (@ $more:expr, $nan_wins:expr, $function:ident, $code:ty, $kernel:literal, $stride:literal, $simd:expr, ($($argument:expr),+)) => {
        match ($more, $nan_wins && <$code as Code>::Element::DTYPE.is_float()) {
            (false, false) => $simd.run(#[inline(always)] || $function::<$code, $kernel, $stride, false, false>($($argument),+)),
            (true, false) => $simd.run(#[inline(always)] || $function::<$code, $kernel, $stride, true, false>($($argument),+)),
            (false, true) => $simd.run(#[inline(always)] || $function::<$code, $kernel, $stride, false, true>($($argument),+)),
            (true, true) => $simd.run(#[inline(always)] || $function::<$code, $kernel, $stride, true, true>($($argument),+)),
        }
    };
}

/// A row of outputs takes the taps of a row of X; if there are `more` taps than those, of rows before, they are in `y`.
fn take<C: Code>(simd: SimdLevel, axis: &Axis, y: &mut [C::Element], row: &[C::Element], more: bool, nan_wins: bool) {
    by_shape!(axis, more, nan_wins, values_of, C, simd, (y, row));
}

fn take_placed<C: Code>(
    simd: SimdLevel,
    axis: &Axis,
    (y, positions): (&mut [C::Element], &mut [<C::Lane as Positioned>::Position]),
    row: &[C::Element],
    ahead: [<C::Lane as Positioned>::Position; 4],
    more: bool,
    nan_wins: bool,
) where
    C::Lane: Positioned,
{
    by_shape!(axis, more, nan_wins, placed_of, C, simd, (y, positions, row, ahead));
}

/// Element `tap` of each step of a row, for all outputs.
#[inline(always)]
fn steps<T, const STRIDE: usize>(row: &[T], tap: usize, length: usize) -> &[[T; STRIDE]] {
    &row.as_chunks::<STRIDE>().0[tap / STRIDE..][..length]
}

#[inline(always)]
fn values_of<C: Code, const KERNEL: usize, const STRIDE: usize, const MORE: bool, const NAN_WINS: bool>(
    y: &mut [C::Element],
    row: &[C::Element],
) {
    let length = y.len();
    let tap = |tap: usize| steps::<_, STRIDE>(row, tap.min(KERNEL - 1), length);
    let (a, b, c, d) = (tap(0), tap(1), tap(2), tap(3));
    for i in 0..length {
        let mut best = if MORE { y[i] } else { a[i][0] };
        let mut step = |number: usize, next: C::Element| {
            if number < KERNEL && (MORE || number > 0) {
                let stepped = C::decode(C::encode(best).step(C::encode(next), 0));
                best = if NAN_WINS && next.is_nan() { next } else { stepped };
            }
        };
        step(0, a[i][0]);
        step(1, b[i][1 % STRIDE]);
        step(2, c[i][2 % STRIDE]);
        step(3, d[i][3 % STRIDE]);
        y[i] = best;
    }
}

#[inline(always)]
fn placed_of<C: Code, const KERNEL: usize, const STRIDE: usize, const MORE: bool, const NAN_WINS: bool>(
    y: &mut [C::Element],
    positions: &mut [<C::Lane as Positioned>::Position],
    row: &[C::Element],
    ahead: [<C::Lane as Positioned>::Position; 4],
) where
    C::Lane: Positioned,
{
    let length = y.len();
    let positions = &mut positions[..length];
    let tap = |tap: usize| steps::<_, STRIDE>(row, tap.min(KERNEL - 1), length);
    let (a, b, c, d) = (tap(0), tap(1), tap(2), tap(3));
    for i in 0..length {
        let mut best = if MORE { y[i] } else { a[i][0] };
        let mut position = if MORE { positions[i] } else { ahead[0] };
        let mut step = |number: usize, next: C::Element| {
            if number < KERNEL && (MORE || number > 0) {
                let wins = NAN_WINS && next.is_nan();
                position = C::Lane::select(C::encode(best), C::encode(next), position, ahead[number]);
                position = if wins { ahead[number] } else { position };
                let stepped = C::decode(C::encode(best).step(C::encode(next), 0));
                best = if wins { next } else { stepped };
            }
        };
        step(0, a[i][0]);
        step(1, b[i][1 % STRIDE]);
        step(2, c[i][2 % STRIDE]);
        step(3, d[i][3 % STRIDE]);
        y[i] = best;
        positions[i] = position;
    }
}

/// The indices of neighbouring windows, each `step` further than the one before.
fn finish<L: Positioned, I: Index>(
    simd: SimdLevel,
    indices: &mut [I],
    positions: &[L::Position],
    base: i64,
    step: i64,
) {
    #[inline(always)]
    fn all<L: Positioned, I: Index>(indices: &mut [I], positions: &[L::Position], base: i64, step: i64) {
        let mut along = base;
        for (index, &position) in indices.iter_mut().zip(positions) {
            *index = I::from_i64(along.wrapping_add(L::offset(position)));
            along = along.wrapping_add(step);
        }
    }
    simd.run(
        #[inline(always)]
        || all::<L, I>(indices, positions, base, step),
    );
}
