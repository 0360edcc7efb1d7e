//! Checks that each index of an unpool names an element of its own window, as the indices of the matching pool do.
//!
//! ```text
//! Y, W columns, windows of 2x2      a a b b c c      source b:  2 and 3, W + 2 and W + 3
//!                                   a a b b c c
//! ```
//!
//! In each of its rows a window has a run of evenly spaced elements. All sources of a row of X have the same rows, so
//! each of these rows is compared with all indices of the row of X, and no index needs a division.

use std::sync::atomic::{AtomicBool, Ordering};

use wgpu_pooling_plan::internal::for_each;
use wgpu_pooling_plan::{AxisWindow, ExecuteError, Index, Layout, Taps, UnpoolPlan};

use super::indices::{Indices, with_slice};
use super::multiples::Multiples;
use super::parts::{Context, cut};
use super::tuning::own_windows::{MOST_ROWS, TOGETHER};
use super::view::unpool_planes;

/// Whether each index names an element of its source's window, or none if the plan skips -1. Indices must be positions
/// of Y in row-major order. `base` gives the index of a plane's first element.
pub(super) fn stay_in_their_windows(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    indices: Indices<'_>,
    base: impl Fn(usize) -> i64 + Sync,
) -> Result<bool, ExecuteError> {
    let Some(windows) = &plan.windows else { return Ok(false) };
    let taps = |axis: usize| windows[axis].most_taps(plan.y_extents[axis]);
    let columns = RowSources::new(plan, windows);
    let rows = (0..columns.outer.len()).map(taps).fold(1, u64::saturating_mul);
    if rows > MOST_ROWS || columns.row > u32::MAX.into() {
        return Ok(false);
    }
    let [plane, _] = unpool_planes(plan);
    let units = plan.batch * plan.channels / columns.channels;
    let strays = AtomicBool::new(false);
    let parts = cut(units, 1, context.wanted(plan.bytes()).min(units), 1);
    context.run(parts, |part, _| {
        for unit in part.outer {
            let mut place = unit * plane * columns.channels;
            let base = base(unit * columns.channels);
            let mut stay = true;
            for_each(columns.outer_sources, &mut |at| {
                let rows = columns.rows_of(windows, at);
                let of_row = indices.part(place..place + columns.runs.len());
                place += columns.runs.len();
                stay &= with_slice!(Indices, of_row, indices => context.simd.run(
                    #[inline(always)]
                    || match columns.step {
                        1 => columns.hold::<_, true>(indices, base, &rows, plan.skip_minus_one),
                        _ => columns.hold::<_, false>(indices, base, &rows, plan.skip_minus_one),
                    },
                ));
            });
            if !stay {
                strays.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(!strays.into_inner())
}

/// The windows of the sources of a row of X.
struct RowSources<'a> {
    /// The extents of X and of Y along the other axes.
    outer_sources: &'a [usize],
    outer: &'a [usize],
    /// The elements of a row of Y: of one channel in NCHW, of all channels in NHWC.
    row: i64,
    /// The channels that lie side by side.
    channels: usize,
    /// For each source of a row of X: where its run begins in a row of Y, and how long it is; and the distance between
    /// its elements.
    runs: Vec<(i64, u64)>,
    step: usize,
    steps: Multiples,
}

impl<'a> RowSources<'a> {
    fn new(plan: &'a UnpoolPlan, windows: &[AxisWindow]) -> RowSources<'a> {
        let last = windows.len() - 1;
        let (sources, extent) = (plan.x_extents[last], plan.y_extents[last]);
        let channels = if plan.space.layout == Layout::Nhwc { plan.channels } else { 1 };
        let taps: Vec<Taps> = (0..sources).map(|source| windows[last].taps(source, extent)).collect();
        // A step that leads out of the row has no effect, and need not fit in 32 bits.
        let step = taps.iter().find(|taps| taps.count > 1).map_or(1, |taps| taps.step);
        let run = |taps: &Taps| {
            let length = (taps.count.min(1) + (taps.count - 1).max(0) * step) as u64 * channels as u64;
            let first = taps.first.wrapping_mul(channels as i64);
            (0..channels as i64).map(move |c| (first.wrapping_add(c), length))
        };
        RowSources {
            outer_sources: &plan.x_extents[..last],
            outer: &plan.y_extents[..last],
            row: (extent * channels) as i64,
            channels,
            runs: taps.iter().flat_map(run).collect(),
            step: step as usize * channels,
            steps: Multiples::new((step as usize * channels) as u32),
        }
    }

    /// The beginnings of the rows of Y that the windows at these coordinates contain.
    fn rows_of(&self, windows: &[AxisWindow], at: &[usize]) -> Vec<i64> {
        let mut rows = vec![0];
        for (axis, &at) in at.iter().enumerate() {
            let taps = windows[axis].taps(at, self.outer[axis]);
            let extent = self.outer[axis] as i64;
            rows = rows.iter().flat_map(|row| taps.positions().map(move |position| row * extent + position)).collect();
        }
        rows.iter_mut().for_each(|row| *row *= self.row);
        rows
    }

    /// Whether all indices of a row of X lie in the runs of these rows.
    #[inline(always)]
    fn hold<I: Index, const DENSE: bool>(&self, indices: &[I], base: i64, rows: &[i64], skips: bool) -> bool {
        let mut stay = true;
        for (number, indices) in indices.chunks(TOGETHER).enumerate() {
            let mut inside = [false; TOGETHER];
            let runs = &self.runs[number * TOGETHER..][..indices.len()];
            for row in rows {
                let base = base.wrapping_add(*row);
                for ((inside, index), (first, length)) in inside.iter_mut().zip(indices).zip(runs) {
                    let ahead = index.to_i64().wrapping_sub(base).wrapping_sub(*first) as u64;
                    *inside |= (ahead < *length) & (DENSE || self.steps.has(ahead as u32));
                }
            }
            for (inside, index) in inside.iter().zip(indices) {
                stay &= *inside | (skips & (index.to_i64() == -1));
            }
        }
        stay
    }
}
