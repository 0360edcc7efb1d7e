//! Policy: which families are tried for a pool, in which order, and in which build. It depends on the plan and on
//! whether the adapter is software, never on a device's name.

use wgpu_pooling_plan::internal::count;
use wgpu_pooling_plan::{AxisWindow, Layout, PoolAxis, PoolPlan};

use super::team;
use super::tuning::policy::{
    FAR_STRIDE, FEW_WINDOWS, MOST_TAPS, REDUCED_FROM, SEPARABLE_FROM, SHORT_ROW, SLIDING_ALONG_ONE_FROM, SLIDING_FROM,
    SLIDING_INSTEAD_FROM, SLIDING_STRIDE, SPECIALISED_FROM,
};
use crate::family::{Build, Family};
use crate::schedule::Limits;

pub(super) fn is_large(shape: &[usize]) -> bool {
    count(shape) >= SPECIALISED_FROM
}

/// The build of a pool's kernels if the caller chooses none.
pub(super) fn default_build(plan: &PoolPlan) -> Build {
    if is_large(plan.input_shape()) { Build::Specialised } else { Build::Generic }
}

/// The families of pools in the order in which they are tried.
pub(super) fn preference(plan: &PoolPlan, build: Build, limits: &Limits) -> Vec<Family> {
    let mut families = Vec::new();
    if build == Build::Specialised {
        let taps = plan.most_taps();
        // Sliding pays where neighbouring windows share at least half of their extent and the axis has four windows or
        // more.
        let half_is_shared = plan.axes.iter().any(|axis| half_shared(axis).is_some());
        // Above `MOST_TAPS` taps, sliding comes first whatever the overlap: the family itself refuses windows that do
        // not overlap.
        let along = axes_with_taps(plan);
        let from = if along == 1 { SLIDING_ALONG_ONE_FROM } else { SLIDING_FROM };
        let slides = (half_is_shared && taps >= from) || taps > MOST_TAPS;
        if !limits.software && separable_on_gpus(plan, slides && half_is_shared) {
            families.push(Family::Separable);
        }
        if slides {
            families.push(Family::Sliding);
        }
        if taps >= REDUCED_FROM {
            families.push(Family::Reducing);
        }
        if team::is_preferred(plan) {
            families.push(Family::Teamed);
        }
        if team::is_small_plane(plan) || (!limits.software && direct_on_gpus(plan)) {
            families.push(Family::Direct);
        }
        families.push(Family::ThreadTile);
        if taps >= SLIDING_INSTEAD_FROM && !families.contains(&Family::Sliding) {
            families.push(Family::Sliding);
        }
    }
    let always = [Family::Direct, Family::Separable, Family::Accumulating];
    families.extend(always.into_iter().filter(|family| !families.contains(family)).collect::<Vec<_>>());
    families
}

/// The axes along which windows have more than one tap.
fn axes_with_taps(plan: &PoolPlan) -> usize {
    plan.axes.iter().filter(|axis| axis.most_taps() > 1).count()
}

/// The stride of an axis with four windows or more, each of which shares at least half of its extent with the next one.
fn half_shared(axis: &PoolAxis) -> Option<i64> {
    match axis.window {
        AxisWindow::Strided { kernel, stride, .. } if axis.output >= 4 && stride.saturating_mul(2) <= kernel => {
            Some(stride)
        }
        AxisWindow::Strided { .. } | AxisWindow::Adaptive { .. } => None,
    }
}

/// Whether a GPU pools along one axis after the other before it tries other families; `slides` says whether windows
/// would slide.
fn separable_on_gpus(plan: &PoolPlan, slides: bool) -> bool {
    if team::is_whole_plane(plan)
        || plan.axes.iter().any(|axis| half_shared(axis).is_some_and(|stride| stride <= SLIDING_STRIDE))
    {
        return false;
    }
    let strides = slides && plan.dtype().bytes() > 1;
    let few =
        count(plan.output_shape()) < FEW_WINDOWS && plan.most_taps() >= SEPARABLE_FROM && axes_with_taps(plan) > 1;
    strides || (few && !team::reads_long_rows(plan))
}

/// Whether a GPU pools each output by an invocation of its own before it tries thread tiles.
///
/// If the length of a row is no multiple of four, thread tiles of elements smaller than a word write a row one word at
/// a time. Card, 5 random pools of two or four bytes, whose windows do not overlap, when tiles of four bytes did the
/// same: direct took 0.48 to 0.84 of the time of thread tiles, median 0.70. Where windows overlap, thread tiles save
/// loads: direct took 1.1 to 2.3 of their time in 9 of 12 pools with such rows. A pool of bytes: 2.0.
///
/// Where the windows of a row lie apart, neighbouring invocations of a tile of such elements load what is far apart.
/// AMD's operations and lines of cache, 20 pools with strides of [`FAR_STRIDE`] and more, or with rows shorter than
/// [`SHORT_ROW`]: direct takes 0.05 to 0.67 of the time of thread tiles.
fn direct_on_gpus(plan: &PoolPlan) -> bool {
    // An axis whose windows are not all alike, such as most adaptive ones, has no stride and does not qualify.
    let strides = |is: &dyn Fn(i64, i64) -> bool| {
        plan.axes.iter().all(|axis| match axis.window.strided() {
            window @ AxisWindow::Strided { stride, .. } => axis.output <= 1 || is(stride, window.reach()),
            AxisWindow::Adaptive { .. } => false,
        })
    };
    // Elements of Y that lie beside each other.
    let run = plan.output_shape().last().map_or(1, |&run| run);
    let bytes = plan.dtype().bytes();
    let far = |axis: &PoolAxis| match axis.window.strided() {
        AxisWindow::Strided { stride, .. } if bytes < 4 && plan.layout() == Layout::Nchw && stride > 2 => {
            stride >= FAR_STRIDE || axis.output < SHORT_ROW || !run.is_multiple_of(4)
        }
        AxisWindow::Strided { .. } | AxisWindow::Adaptive { .. } => false,
    };
    let early = match bytes {
        2 => !run.is_multiple_of(4) && strides(&|stride, reach| stride > reach),
        _ => false,
    };
    early || plan.axes.last().is_some_and(far)
}

/// The families that are tried, in this order, after all of those in `preference`.
pub(super) fn others(plan: &PoolPlan, build: Build, limits: &Limits) -> Vec<Family> {
    let preferred = preference(plan, build, limits);
    let others = [Family::ThreadTile, Family::Sliding, Family::Teamed, Family::Reducing];
    others.into_iter().filter(|family| !preferred.contains(family)).collect()
}
