//! From a plan and a device's limits to a schedule: which kernels, which grids, how much scratch. Policy that can change
//! speed and never results.

mod accumulate;
mod activation;
mod convert;
mod cut;
mod digits;
mod pass;
mod pool;
mod stream;
mod unpool;

use crate::error::PlanError;
use crate::plan::Plan;
use crate::schedule::{Build, Family, Limits, Schedule};

/// The most loop iterations that one invocation may come to, all its loops taken together.
///
/// Some software Vulkan drivers end an invocation's loops in silence after 65,535 iterations, summed over the lanes of a
/// group that diverge; drivers' watchdogs end long dispatches. Seven thousand leaves room for eight diverging lanes.
///
/// ```
/// use wgpu_pooling::{families, DType, Family, Limits, MaxPool, MAX_ITERATIONS};
///
/// // More taps in a window than one invocation may look at.
/// let plan = MaxPool::new([90, 90]).plan(&[1, 1, 200, 300], DType::F32, None)?.into();
/// assert!(90 * 90 > MAX_ITERATIONS && !families(&plan, &Limits::WEBGPU).contains(&Family::Direct));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub const MAX_ITERATIONS: u64 = 7_000;

/// The most taps of one dispatch, for the patience of drivers' watchdogs.
pub(crate) const MAX_TAPS: u64 = crate::schedule::MAX_WORK;

/// The most dispatches of a schedule: beyond, what a caller wants is better had in pieces.
pub(crate) const MAX_DISPATCHES: u64 = 1 << 14;

/// Positions carry a flag in their highest bit on their way between passes.
pub(crate) const MAX_ELEMENTS: u64 = 1 << 31;

/// Invocations of a workgroup (`WORKGROUP` in shaders/core/grid.wgsl).
pub(crate) const WORKGROUP: u64 = 64;

/// What to run instead of what [`select`] would choose.
///
/// ```
/// use wgpu_pooling::{select, Build, Choice, DType, Family, GlobalMaxPool, Limits};
///
/// let plan = GlobalMaxPool::new().plan(&[1, 1, 8, 8], DType::F32, None)?.into();
/// let choice = Choice { family: Some(Family::Separable), build: Build::Generic };
/// assert_eq!(select(&plan, &Limits::WEBGPU, &choice)?.dispatches().len(), 2);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Choice {
    /// The kernel family; `None` leaves it to [`select`].
    pub family: Option<Family>,
    /// How kernels get their windows. Accumulating pools, unpools and conversions have the generic build alone.
    pub build: Build,
}

/// The kernel families that apply to a plan. The first is what [`select`] takes.
///
/// ```
/// use wgpu_pooling::{families, DType, Family, Limits, MaxPool};
///
/// let plan = MaxPool::new([3, 3]).plan(&[1, 1, 9, 9], DType::F32, None)?;
/// assert_eq!(families(&plan.into(), &Limits::WEBGPU), [Family::Direct, Family::Separable, Family::Accumulating]);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub fn families(plan: &Plan, limits: &Limits) -> Vec<Family> {
    let all = [
        Family::Direct,
        Family::Separable,
        Family::Accumulating,
        Family::Streaming,
        Family::ClaimEmit,
        Family::Convert,
    ];
    all.into_iter()
        .filter(|&family| {
            let choice = Choice { family: Some(family), build: Build::Generic };
            select(plan, limits, &choice).is_ok()
        })
        .collect()
}

/// The schedule that computes a plan on a device with these limits.
///
/// A pool runs as [`Family::Direct`] where an invocation can look at a whole window, else as [`Family::Separable`], and where
/// a window or its surroundings exceed a binding as [`Family::Accumulating`]; an unpool as [`Family::Streaming`] where few windows overlap, else as [`Family::ClaimEmit`].
///
/// # Errors
/// [`PlanError::ExceedsLimit`] for tensors or scratch beyond the limits, [`PlanError::KernelDoesNotApply`] for a family
/// that was asked for and cannot compute this plan, [`PlanError::NotOnGpu`] for what the CPU path alone computes.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, Limits, MaxPool, PlanError};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?.into();
/// assert_eq!(select(&plan, &Limits::WEBGPU, &Choice::default())?.family(), Family::Direct);
/// let unpool = Choice { family: Some(Family::Streaming), ..Choice::default() };
/// assert!(matches!(select(&plan, &Limits::WEBGPU, &unpool), Err(PlanError::KernelDoesNotApply { .. })));
/// # Ok::<(), PlanError>(())
/// ```
pub fn select(plan: &Plan, limits: &Limits, choice: &Choice) -> Result<Schedule, PlanError> {
    let schedule = choose(plan, limits, choice)?;
    schedule.check(limits)?;
    Ok(schedule)
}

fn choose(plan: &Plan, limits: &Limits, choice: &Choice) -> Result<Schedule, PlanError> {
    match plan {
        Plan::Pool(pool) => match choice.family {
            Some(family) => pool::schedule(pool, limits, family, choice.build),
            None => {
                let schedule = |family| pool::schedule(pool, limits, family, choice.build);
                // The last one needs least, so what keeps it from the plan keeps everything; but the families before it may
                // know a limit, which says more.
                schedule(Family::Direct).or_else(|first| {
                    schedule(Family::Separable).or_else(|second| {
                        schedule(Family::Accumulating).map_err(|third| {
                            let mut errors = [third.clone(), first, second].into_iter();
                            let says_more = |error: &PlanError| !matches!(error, PlanError::KernelDoesNotApply { .. });
                            errors.find(says_more).unwrap_or(third)
                        })
                    })
                })
            }
        },
        Plan::Unpool(unpool) => match choice.family {
            Some(Family::ClaimEmit) => unpool::schedule(unpool, limits),
            Some(Family::Streaming) => stream::schedule(unpool, limits),
            // The general path needs least, so what keeps it from the plan keeps everything.
            None => stream::schedule(unpool, limits).or_else(|_| unpool::schedule(unpool, limits)),
            Some(family) => Err(PlanError::KernelDoesNotApply { family, reason: "the plan is an unpool" }),
        },
        Plan::Convert(convert) => match choice.family {
            None | Some(Family::Convert) => convert::schedule(convert, limits),
            Some(family) => Err(PlanError::KernelDoesNotApply { family, reason: "the plan converts indices" }),
        },
    }
}

/// Workgroups for so many invocations, folded into x and y.
fn grid(invocations: u64, limits: &Limits) -> Result<[u32; 3], PlanError> {
    let most = u64::from(limits.max_workgroups_per_dimension).max(1);
    let groups = invocations.div_ceil(WORKGROUP);
    let rows = groups.div_ceil(most).max(1);
    if rows > most {
        return Err(PlanError::ExceedsLimit { what: "workgroups", needed: groups, limit: most * most });
    }
    // Rows of equal width keep the surplus below one row.
    Ok([groups.div_ceil(rows) as u32, rows as u32, 1])
}

/// Refuses a buffer that the device cannot hold. It may be bound in parts.
fn check_buffer(what: &'static str, bytes: u64, limits: &Limits) -> Result<(), PlanError> {
    let limit = limits.max_buffer_bytes;
    if bytes > limit { Err(PlanError::ExceedsLimit { what, needed: bytes, limit }) } else { Ok(()) }
}

/// Refuses a buffer that the device cannot hold or bind whole.
fn check_bytes(what: &'static str, bytes: u64, limits: &Limits) -> Result<(), PlanError> {
    let limit = limits.max_buffer_bytes.min(limits.max_binding_bytes);
    if bytes > limit { Err(PlanError::ExceedsLimit { what, needed: bytes, limit }) } else { Ok(()) }
}

/// Refuses more elements than positions can count.
fn check_elements(what: &'static str, elements: u64) -> Result<(), PlanError> {
    if elements > MAX_ELEMENTS {
        return Err(PlanError::ExceedsLimit { what, needed: elements, limit: MAX_ELEMENTS });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_fold_and_cover() {
        let limits = Limits { max_workgroups_per_dimension: 4, ..Limits::WEBGPU };
        for invocations in [0, 1, 64, 65, 4 * 64, 4 * 64 + 1, 13 * 64, 16 * 64] {
            let [x, y, z] = grid(invocations, &limits).unwrap();
            assert!(x <= 4 && y <= 4 && z == 1);
            assert!(u64::from(x) * u64::from(y) * WORKGROUP >= invocations);
        }
        assert_eq!(grid(17 * 64, &limits), Err(PlanError::ExceedsLimit { what: "workgroups", needed: 17, limit: 16 }));
    }
}
