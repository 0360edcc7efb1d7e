//! Pools whose windows hardly overlap, adaptive ones and whole planes: the maxima of columns over the rows of a window, then along
//! the columns.
//!
//! ```text
//! rows of X that the windows of a row of outputs have   a0 a1 a2 a3 a4 a5
//!                                                       b0 b1 b2 b3 b4 b5
//!                                                       c0 c1 c2 c3 c4 c5
//! maxima of columns, each with its row                  b0 c1 a2 a3 c4 b5
//! outputs                                               max of three | max of three
//! ```
//!
//! Of equal elements the one in the earlier row wins, and in a row the earlier one. Within a column the first of equal elements stays,
//! and among columns rows are compared too, so the winner is the first in row-major order although columns come first. NaN, -0 and
//! ties with the first element of a window are settled as in the [`separable`](super::separable) kernel: NaN are the lowest lane
//! while columns are reduced, and the winner replaces the window's first element if it is greater than that.
//!
//! In NHWC the channels of a position are the columns, and each of them is an output.

use bytemuck::{cast_slice, cast_slice_mut};

use super::general;
use super::lane::{Code, OfF32, OfF64, OfI32, OfI64, OfU32, OfU64, Positioned, WideBf16, WideF16, Widened, with_code};
use super::parts::PartOf;
use super::reduce::{self, Rows};
use super::scratch::Scratch;
use super::view::View;
use crate::activation::apply_to_all;
use crate::element::{DType, Element, Index};
use crate::error::ExecuteError;
use crate::geometry::Taps;
use crate::options::NanPolicy;
use crate::plan::{MAX_SPATIAL_AXES, PoolPlan};

/// The most columns.
const MOST_COLUMNS: usize = 1 << 16;
/// Rows that are reduced at once.
const AT_ONCE: usize = 4;

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
    let outer = outer_axes(view);
    let rows = view.axes[..outer]
        .iter()
        .fold(1u64, |rows, axis| rows.saturating_mul(axis.window.most_taps(axis.input, axis.output)));
    if rows > i32::MAX as u64 {
        return Err("its windows have too many rows");
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
    macro_rules! run {
        ($code:ty) => {
            run::<$code, I>(part, cast_slice(x), cast_slice_mut(y), indices, scratch)
        };
    }
    with_code!(part.plan.dtype(), run:
        F32 => OfF32, F64 => OfF64, F16 => WideF16, Bf16 => WideBf16,
        I32 => OfI32, U32 => OfU32, I64 => OfI64, U64 => OfU64,
        I8 => Widened<i8>, U8 => Widened<u8>, I16 => Widened<i16>, U16 => Widened<u16>,
    );
    Ok(())
}

/// The columns of one row of outputs.
struct Columns<'a, L: Positioned> {
    /// The greatest lane of each column, and the number of its row.
    best: &'a mut [L],
    rows: &'a mut [L::Position],
    /// Rows of X as lanes.
    encoded: &'a mut [L],
}

fn run<C: Code, I: Index>(
    part: &PartOf<'_>,
    x: &[C::Element],
    y: &mut [C::Element],
    mut indices: Option<&mut [I]>,
    scratch: &mut Scratch,
) -> Result<(), ExecuteError>
where
    C::Lane: Positioned,
{
    let PartOf { plan, view, .. } = *part;
    let (columns, outer) = (columns(view), outer_axes(view));
    // Lanes and positions have one width.
    let memory = scratch.elements::<C::Lane>((2 + AT_ONCE) * columns.next_multiple_of(2))?;
    let (rows, memory) = memory.split_at_mut(columns);
    let (best, encoded) = memory.split_at_mut(columns);
    let mut own = Columns::<C::Lane> { best, rows: cast_slice_mut(rows), encoded };
    let lanes = match (view.inner, outer) {
        (1, 0) => part.part.rows.clone(),
        (1, last) => 0..view.axes[last].output,
        (channels, _) => 0..channels,
    };
    let mut out = [0; MAX_SPATIAL_AXES];
    let mut place = 0;
    for plane in part.part.outer.clone() {
        let x = &x[plane * view.plane()..][..view.plane()];
        out[..outer].fill(0);
        out[0] = part.part.rows.start;
        loop {
            let to = &mut y[place..place + lanes.len()];
            let taps: Vec<Taps> = view.axes[..outer].iter().zip(out).map(|(axis, out)| axis.taps(out)).collect();
            let nan = own.reduce::<C>(part, &taps, x);
            for (lane, y) in lanes.clone().zip(to.iter_mut()) {
                let (value, index) = match nan {
                    true => own.general(part, (plane, lane), &mut out, x),
                    false => own.output::<C>(part, (plane, lane), &taps, x),
                };
                *y = value;
                if let Some(indices) = &mut indices {
                    indices[place + lane - lanes.start] = I::from_i64(index);
                }
            }
            // The general kernel has applied it.
            if !nan {
                apply_to_all(plan.activation, to);
            }
            place += lanes.len();
            // The next row of outputs.
            let end = |axis: usize| if axis == 0 { part.part.rows.end } else { view.axes[axis].output };
            let Some(axis) = (0..outer).rev().find(|&axis| out[axis] + 1 < end(axis)) else { break };
            out[axis] += 1;
            out[axis + 1..outer].fill(0);
        }
    }
    Ok(())
}

impl<L: Positioned> Columns<'_, L> {
    /// Reduces the rows that these taps have. Says that the last NaN of a window may have to win.
    fn reduce<C: Code<Lane = L>>(&mut self, part: &PartOf<'_>, taps: &[Taps], x: &[C::Element]) -> bool {
        let (view, simd) = (part.view, part.simd);
        let columns = self.best.len();
        let looks = part.plan.nan_policy == NanPolicy::PropagateLast && C::Element::DTYPE.is_float();
        let counts: Vec<usize> = taps.iter().map(|taps| taps.count as usize).collect();
        let total: usize = counts.iter().product();
        let mut at = vec![0; taps.len()];
        let (mut number, mut nan) = (0, false);
        while number < total {
            let together = AT_ONCE.min(total - number);
            let mut places = [0; AT_ONCE];
            for place in &mut places[..together] {
                let along = taps.iter().zip(&at).zip(&view.axes);
                *place = along
                    .map(|((taps, &at), axis)| (taps.first + at as i64 * taps.step) as usize * axis.x_stride)
                    .sum();
                if let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] + 1 < counts[axis]) {
                    at[axis] += 1;
                    at[axis + 1..].fill(0);
                }
            }
            let rows = places.map(|place| &x[place..place + columns]);
            if looks {
                nan |= rows[..together].iter().any(|row| {
                    simd.run(
                        #[inline(always)]
                        || row.iter().fold(false, |any, element| any | element.is_nan()),
                    )
                });
            }
            for (row, encoded) in rows[..together].iter().zip(self.encoded.chunks_exact_mut(columns)) {
                simd.run(
                    #[inline(always)]
                    || row.iter().zip(encoded).for_each(|(&element, lane)| *lane = C::encode(element)),
                );
            }
            let encoded = |row: usize| &self.encoded[row * columns..][..columns];
            let sources = [0, 1, 2, 3].map(|row| (encoded(row), &[][..], L::position((number + row) as i64)));
            reduce::first(simd, Rows::one(self.best.len()), self.best, self.rows, &sources[..together], number > 0);
            number += together;
        }
        nan
    }

    /// The element of Y and the index of an output.
    #[inline]
    fn output<C: Code<Lane = L>>(
        &self,
        part: &PartOf<'_>,
        (plane, lane): (usize, usize),
        taps: &[Taps],
        x: &[C::Element],
    ) -> (C::Element, i64) {
        let (view, plan) = (part.view, part.plan);
        let along = match view.inner {
            1 => view.axes[taps.len()].taps(lane),
            _ => Taps { first: lane as i64, count: 1, step: 1 },
        };
        let (mut best, mut row, mut column) = (L::LOWEST, i64::MAX, 0);
        for position in along.positions() {
            let (lane, of_lane) = (self.best[position as usize], L::offset(self.rows[position as usize]));
            if lane > best || (lane == best && of_lane < row) {
                (best, row, column) = (lane, of_lane, position);
            }
        }
        let of_plane = view.index_of_plane(plane);
        let column_stride = if view.inner == 1 { view.axes[taps.len()].index_stride } else { view.index_c };
        let index_of = |column: i64, mut row: i64| {
            let mut index = view.index_base.wrapping_add(of_plane).wrapping_add(column.wrapping_mul(column_stride));
            for (taps, axis) in taps.iter().zip(&view.axes).rev() {
                let position = taps.first + row % taps.count * taps.step;
                row /= taps.count;
                index = index.wrapping_add(position.wrapping_mul(axis.index_stride));
            }
            index
        };
        let seeded = plan.nan_policy == NanPolicy::SeedLowest;
        let first_place =
            taps.iter().zip(&view.axes).map(|(taps, axis)| taps.first as usize * axis.x_stride).sum::<usize>();
        let first = if seeded { plan.seed() } else { x[first_place + along.first as usize] };
        if best > C::encode(first) && !first.is_nan() {
            return (C::decode(best), index_of(column, row));
        }
        let channel = if view.inner == 1 { 0 } else { (lane as i64).wrapping_mul(view.index_c) };
        let index =
            if seeded { view.unit_base.wrapping_add(of_plane).wrapping_add(channel) } else { index_of(along.first, 0) };
        (first, index)
    }

    /// The same by the general kernel.
    fn general<T: Element>(
        &self,
        part: &PartOf<'_>,
        (plane, lane): (usize, usize),
        out: &mut [usize; MAX_SPATIAL_AXES],
        x: &[T],
    ) -> (T, i64) {
        let PartOf { plan, view, .. } = *part;
        let of_plane = view.index_of_plane(plane);
        if view.inner != 1 {
            let channel = (lane as i64).wrapping_mul(view.index_c);
            return general::window(plan, view, out, &x[lane..], of_plane.wrapping_add(channel));
        }
        let mut out = *out;
        out[view.axes.len() - 1] = lane;
        general::window(plan, view, &out, x, of_plane)
    }
}
