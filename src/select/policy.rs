//! Policy: which families are tried for a pool, in which order, and in which build. It depends on the plan alone,
//! never on a device's name.

use super::team;
use super::tuning::policy::{
    MOST_TAPS, REDUCED_FROM, SLIDING_ALONG_ONE_FROM, SLIDING_FROM, SLIDING_INSTEAD_FROM, SPECIALISED_FROM,
};
use crate::family::{Build, Family};
use crate::geometry::AxisWindow;
use crate::plan::PoolPlan;
use crate::tensor::count;

pub(super) fn is_large(shape: &[usize]) -> bool {
    count(shape) >= SPECIALISED_FROM
}

/// The build of a pool's kernels if the caller chooses none.
pub(super) fn default_build(plan: &PoolPlan) -> Build {
    if is_large(plan.input_shape()) { Build::Specialised } else { Build::Generic }
}

/// The families of pools in the order in which they are tried.
pub(super) fn preference(plan: &PoolPlan, build: Build) -> Vec<Family> {
    let mut families = Vec::new();
    if build == Build::Specialised {
        let taps = plan.axes.iter().fold(1, |taps: u64, axis| taps.saturating_mul(axis.most_taps()));
        // Sliding pays where neighbouring windows share at least half of their extent and the axis has four windows or
        // more.
        let much = plan.axes.iter().any(|axis| match axis.window {
            AxisWindow::Strided { kernel, stride, .. } => axis.output >= 4 && stride.saturating_mul(2) <= kernel,
            AxisWindow::Adaptive | AxisWindow::AdaptivePart { .. } => false,
        });
        // Above `MOST_TAPS` taps, sliding comes first whatever the overlap: the family itself refuses windows that do
        // not overlap.
        let along = plan.axes.iter().filter(|axis| axis.most_taps() > 1).count();
        let from = if along == 1 { SLIDING_ALONG_ONE_FROM } else { SLIDING_FROM };
        if (much && taps >= from) || taps > MOST_TAPS {
            families.push(Family::Sliding);
        }
        if taps >= REDUCED_FROM {
            families.push(Family::Reducing);
        }
        if team::is_preferred(plan) {
            families.push(Family::Teamed);
        }
        if team::is_small_plane(plan) {
            families.push(Family::Direct);
        }
        families.push(Family::Blocked);
        if taps >= SLIDING_INSTEAD_FROM && !families.contains(&Family::Sliding) {
            families.push(Family::Sliding);
        }
    }
    let always = [Family::Direct, Family::Separable, Family::Accumulating];
    families.extend(always.into_iter().filter(|family| !families.contains(family)).collect::<Vec<_>>());
    families
}

/// The families that are tried, in this order, after all of those in `preference`.
pub(super) fn others(plan: &PoolPlan, build: Build) -> Vec<Family> {
    let preferred = preference(plan, build);
    let others = [Family::Blocked, Family::Sliding, Family::Teamed, Family::Reducing];
    others.into_iter().filter(|family| !preferred.contains(family)).collect()
}
