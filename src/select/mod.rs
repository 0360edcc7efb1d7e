//! From a plan and a device's limits to a schedule: which kernels, which grids, how much scratch. The choice may change
//! speed and never results.

// Why unchecked arithmetic in these modules cannot overflow: a tensor has at most 2^31 elements; an axis whose numbers
// reach 2^29 becomes a table, and a table of that length is refused before any arithmetic on it; products of kernels
// and strides saturate.
mod accumulate;
mod activation;
mod bounds;
mod cells;
mod claim_emit;
mod composition;
mod cost;
mod difference;
mod digits;
mod epilogue;
mod gather;
mod one_pass;
mod partition;
mod pool;
mod reduce;
mod slide;
mod slide_kernel;
mod slide_layout;
mod slide_pass;
mod sliding;
mod strip;
mod tap_by_tap;
mod target;
mod team;
mod thread_tile;
mod tuning;
mod view;

use wgpu_pooling_plan::{CompositionPlan, OutsideWindow, Plan, PlanError, PoolPlan, UnpoolPlan};

pub use bounds::MAX_ITERATIONS;
pub(crate) use reduce::most_of_a_reduction;
pub use target::Sizes;

use crate::family::{Build, Family};
use crate::schedule::{Limits, Schedule};
use target::Target;
use tuning::cost::NEARLY;
use tuning::policy::SPECIALISED_FROM;
use tuning::reduce::REDUCED_FROM;

/// A kernel family and a build that the caller wants instead of what [`select`] would take. A composition takes one
/// `Choice` for each step, or one for all, which is ignored by steps to which its family does not apply.
///
/// ```
/// use wgpu_pooling::{select, Build, Choice, DType, Family, GlobalMaxPool, Limits};
///
/// let plan = GlobalMaxPool::new().plan(&[1, 1, 8, 8], DType::F32, None)?;
/// let choice = Choice { family: Some(Family::Separable), build: Some(Build::Generic) };
/// assert_eq!(select(&plan, &Limits::WEBGPU, &choice)?.dispatches().len(), 2);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[must_use]
pub struct Choice {
    /// The kernel family; `None` leaves it to [`select`].
    pub family: Option<Family>,
    /// How kernels get their windows, one of [`Family::builds`]; `None` leaves it to [`select`].
    pub build: Option<Build>,
}

impl AsRef<[Choice]> for Choice {
    fn as_ref(&self) -> &[Choice] {
        std::slice::from_ref(self)
    }
}

/// The kernel families that apply to a plan, in the order in which [`select`] prefers them: [`select`] takes the first.
/// Of a composition they are those of its steps, beginning with the first step's.
///
/// ```
/// use wgpu_pooling::{families, DType, Family, Limits, MaxPool};
///
/// let plan = MaxPool::new([3, 3]).plan(&[1, 1, 9, 9], DType::F32, None)?;
/// let found = families(&plan, &Limits::WEBGPU);
/// assert_eq!(found[0], Family::Direct, "what a small tensor runs as");
/// assert!(found.contains(&Family::ThreadTile) && found.contains(&Family::Sliding));
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
pub fn families(plan: &Plan, limits: &Limits) -> Vec<Family> {
    let order = match plan {
        Plan::Pool(pool) => return families_of_pool(pool, &limits.into()),
        Plan::Unpool(unpool) if large_unpool(unpool, &limits.into()).is_some() => {
            vec![Family::Gather, Family::ClaimEmit]
        }
        Plan::Unpool(_) => vec![Family::ClaimEmit, Family::Gather],
        Plan::Difference(_) => vec![Family::Direct],
        Plan::Composition(composition) => {
            let mut found = Vec::new();
            for family in composition.steps.iter().flat_map(|step| families(&step.plan, limits)) {
                if !found.contains(&family) {
                    found.push(family);
                }
            }
            found
        }
    };
    let applies = |&family: &Family| select(plan, limits, &Choice { family: Some(family), build: None }).is_ok();
    order.into_iter().filter(applies).collect()
}

fn families_of_pool(plan: &PoolPlan, limits: &Target) -> Vec<Family> {
    let build = default_build(plan);
    let chosen = choose_pool(plan, limits, &Choice::default()).map(|schedule| schedule.family);
    let cost = |family: Family| {
        let schedule = pool_in(plan, limits, family, build).ok()?;
        Some((chosen != Ok(family), family == Family::Accumulating, cost::seconds(&schedule, limits), family))
    };
    let mut found: Vec<_> = POOLS.into_iter().chain([Family::Accumulating]).filter_map(cost).collect();
    found.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    found.into_iter().map(|(.., family)| family).collect()
}

/// The schedule that computes a plan on a device with these limits.
///
/// A composition has one schedule too, with the dispatches of all steps. `choice` is a [`Choice`], or a list of them
/// with one for each step, such as `measure` of a `Gpu` finds; further steps have the last one, and further choices are
/// not looked at.
///
/// The choice depends on the plan and the limits only, never on the device's name. It changes no result, except which
/// of equal indices wins under [`Duplicates::Any`](crate::Duplicates::Any). Whether the device is software
/// ([`Limits::software`]) decides how much an invocation does and which family runs.
///
/// A pool of 4096 elements or more runs in the family whose schedule is predicted to take the least time, from its
/// dispatches, the bytes they move, the operations and loads of their invocations, and whether there are enough of
/// these to fill the device. A smaller one runs as [`Family::Direct`], or as [`Family::Separable`] if windows are too
/// long for that. [`Family::Accumulating`] runs where no other family applies.
///
/// Small tensors run generic kernels, which are compiled once for all windows: compiling a specialised kernel would
/// take longer than it saves. An unpool with an output of 4096 elements or more runs as [`Family::Gather`] where the
/// specialised build of that family applies. An unpool with a smaller output, or with too many overlapping windows,
/// runs as [`Family::ClaimEmit`], as does one of elements of four bytes where any of equal indices may win
/// ([`Duplicates::Any`](crate::Duplicates::Any)) and bad ones are skipped
/// ([`OutOfBounds::Skip`](crate::OutOfBounds::Skip)). Only [`Family::Gather`] enforces an
/// [`OutsideWindow`](crate::OutsideWindow) other than `Scatter`; such unpools run as it at any size.
///
/// # Errors
/// [`PlanError::ExceedsLimit`] for tensors or scratch beyond the limits, [`PlanError::KernelDoesNotApply`] if the
/// chosen family cannot compute this plan, [`PlanError::NotOnGpu`] for plans that only the CPU computes.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, Limits, MaxPool, PlanError};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// assert_eq!(select(&plan, &Limits::WEBGPU, &Choice::default())?.family(), Family::Direct);
/// let unpool = Choice { family: Some(Family::Gather), ..Choice::default() };
/// assert!(matches!(select(&plan, &Limits::WEBGPU, &unpool), Err(PlanError::KernelDoesNotApply { .. })));
/// # Ok::<(), PlanError>(())
/// ```
pub fn select(plan: &Plan, limits: &Limits, choice: &(impl AsRef<[Choice]> + ?Sized)) -> Result<Schedule, PlanError> {
    Sizes::default().select(plan, limits, choice)
}

impl Sizes {
    /// [`select`] with these numbers.
    pub fn select(
        self,
        plan: &Plan,
        limits: &Limits,
        choice: &(impl AsRef<[Choice]> + ?Sized),
    ) -> Result<Schedule, PlanError> {
        let choices = choice.as_ref();
        for &Choice { family, build } in choices {
            if let (Some(family), Some(build)) = (family, build)
                && !family.builds().contains(&build)
            {
                return family.refuse("the family does not have this build");
            }
        }
        let limits = &Target::new(limits, self);
        match plan {
            Plan::Composition(composition) => choose_composition(composition, limits, choices),
            plan => choose_step(plan, limits, &choices.first().copied().unwrap_or_default()),
        }
    }
}

/// The schedule of a plan of one step.
fn choose_step(plan: &Plan, limits: &Target, choice: &Choice) -> Result<Schedule, PlanError> {
    match plan {
        Plan::Pool(pool) => choose_pool(pool, limits, choice),
        Plan::Unpool(unpool) => choose_unpool(unpool, limits, choice),
        Plan::Difference(plan) => difference::schedule(plan, limits).and_then(|schedule| checked(schedule, limits)),
        Plan::Composition(plan) => choose_composition(plan, limits, choice.as_ref()),
    }
}

/// The schedules of all steps as one. A family that was chosen has to apply to some pool.
fn choose_composition(plan: &CompositionPlan, limits: &Target, choices: &[Choice]) -> Result<Schedule, PlanError> {
    let (mut steps, mut refused, mut applies) = (Vec::new(), None, false);
    for (number, step) in plan.steps.iter().enumerate() {
        let choice = choices.get(number).or(choices.last()).copied().unwrap_or_default();
        steps.push(match choose_step(&step.plan, limits, &choice) {
            Err(error) if choice.family.is_some() => {
                refused = Some(error);
                choose_step(&step.plan, limits, &Choice { family: None, ..choice })?
            }
            chosen => {
                applies |= matches!(step.plan, Plan::Pool(_));
                chosen?
            }
        });
    }
    if let (Some(error), false) = (refused, applies) {
        return Err(error);
    }
    composition::joined(plan, &steps).and_then(|schedule| checked(schedule, limits))
}

/// The families of pools, in the order in which their schedules are made; [`Family::Accumulating`] comes last.
const POOLS: [Family; 7] = [
    Family::ThreadTile,
    Family::Direct,
    Family::Strip,
    Family::Sliding,
    Family::Separable,
    Family::Teamed,
    Family::Reducing,
];

fn is_large(elements: u64) -> bool {
    elements >= SPECIALISED_FROM
}

/// The build of a pool's kernels if the caller chooses none.
fn default_build(plan: &PoolPlan) -> Build {
    if is_large(plan.input_elements()) { Build::Specialised } else { Build::Generic }
}

/// A schedule that keeps to the limits. Every schedule is checked once, where it is made.
fn checked(schedule: Schedule, limits: &Limits) -> Result<Schedule, PlanError> {
    schedule.check(limits)?;
    Ok(schedule)
}

fn choose_unpool(plan: &UnpoolPlan, limits: &Target, choice: &Choice) -> Result<Schedule, PlanError> {
    let claims = || claim_emit::schedule(plan, limits);
    // Only `Gather` can check indices against windows, so both its builds are tried, also for small tensors.
    if plan.outside_window != OutsideWindow::Scatter && choice.family.is_none() && !plan.input_shape().contains(&0) {
        let generic = |_| gather::schedule(plan, limits, Build::Generic);
        let schedule = choose_gather(plan, limits, choice).or_else(generic);
        let what = "outside_window with windows of more than three axes, or of which very many overlap";
        return schedule.and_then(|schedule| checked(schedule, limits)).map_err(|error| match error {
            PlanError::KernelDoesNotApply { .. } => PlanError::NotOnGpu { what },
            error => error,
        });
    }
    let schedule = match choice.family {
        Some(Family::ClaimEmit) => claims(),
        Some(Family::Gather) => choose_gather(plan, limits, choice),
        // `ClaimEmit` has the generic build alone, and few dispatches; the generic build of `Gather` is slow.
        None if choice.build == Some(Build::Generic) => claims(),
        // `ClaimEmit` has the fewest requirements, so if it fails as well, its error is the one to report.
        None if choice.build.is_some() => choose_gather(plan, limits, choice).or_else(|_| claims()),
        None => match large_unpool(plan, limits) {
            Some(schedule) => return Ok(schedule),
            None => claims(),
        },
        Some(family) => family.refuse("the plan is an unpool"),
    };
    schedule.and_then(|schedule| checked(schedule, limits))
}

fn choose_pool(plan: &PoolPlan, limits: &Target, choice: &Choice) -> Result<Schedule, PlanError> {
    let build = choice.build.unwrap_or(default_build(plan));
    match choice.family {
        Some(family) => pool_in(plan, limits, family, build),
        None => {
            let only = choice.build == Some(Build::Generic);
            fastest(plan, limits, build, |family| !only || family.builds().contains(&build))
        }
    }
}

/// The schedule of a plan that must fit one submit. `Family::Accumulating`, which reads every tap of every window of a
/// pool in many dispatches, is not tried: a smaller tile fits another family.
pub(crate) fn select_submit(plan: &Plan, limits: &Limits) -> Result<Schedule, PlanError> {
    match plan {
        Plan::Pool(plan) => fastest(plan, &limits.into(), default_build(plan), |family| family != Family::Accumulating),
        Plan::Composition(plan) => {
            let steps = plan.steps.iter().map(|step| select_submit(&step.plan, limits));
            let joined = composition::joined(plan, &steps.collect::<Result<Vec<_>, _>>()?)?;
            checked(joined, limits)
        }
        _ => select(plan, limits, &Choice::default()),
    }
}

/// The schedule of a pool in a family, in this build if the family has it. The schedule is checked against the limits.
fn pool_in(plan: &PoolPlan, limits: &Target, family: Family, build: Build) -> Result<Schedule, PlanError> {
    let builds = family.builds();
    let build = if builds.contains(&build) { build } else { builds[0] };
    pool::schedule(plan, limits, family, build).and_then(|schedule| checked(schedule, limits))
}

/// The schedule of the least cost in the families that are wanted. Generic kernels are shared by all windows, so of the
/// families that have them the first that applies is taken.
fn fastest(
    plan: &PoolPlan,
    limits: &Target,
    build: Build,
    wanted: impl Fn(Family) -> bool,
) -> Result<Schedule, PlanError> {
    let (mut best, mut errors): (Option<(f64, Schedule)>, _) = (None, Vec::new());
    let (own, others): (Vec<Family>, Vec<Family>) = POOLS.into_iter().partition(|it| it.builds().contains(&build));
    let order = own.into_iter().chain(others).chain([Family::Accumulating]);
    // `most_of_a_reduction` counts on this.
    let reduces = plan.most_taps() >= REDUCED_FROM;
    let mut in_strips = false;
    for family in order.filter(|&family| wanted(family)) {
        let is_tried = match family {
            Family::Accumulating => best.is_none(),
            Family::Reducing => reduces,
            // On software, windows of 13x13 and 31x31 take 17 to 36 times a copy in strips, which need barriers, and 4
            // to 17 along one axis at a time.
            Family::Strip => !limits.software,
            // Strips refuse the windows for which this is faster.
            Family::Sliding => !in_strips,
            _ => true,
        };
        let is_beaten = |(seconds, _): &(f64, Schedule)| *seconds <= NEARLY * cost::least_seconds(plan, family, limits);
        if !is_tried || best.as_ref().is_some_and(is_beaten) {
            continue;
        }
        let schedule = match pool_in(plan, limits, family, build) {
            Ok(schedule) => schedule,
            Err(error) => {
                errors.push(error);
                continue;
            }
        };
        in_strips |= family == Family::Strip;
        let seconds = cost::seconds(&schedule, limits);
        if best.as_ref().is_none_or(|(least, _)| seconds < *least) {
            best = Some((seconds, schedule));
        }
        if build == Build::Generic {
            break;
        }
    }
    if let Some((_, schedule)) = best {
        return Ok(schedule);
    }
    // The last family has the fewest requirements, so its error applies to all families. An exceeded limit that an
    // earlier family reports is more useful to the caller than "does not apply", and is returned instead.
    let says_more = |error: &&PlanError| !matches!(error, PlanError::KernelDoesNotApply { .. });
    let error = errors.iter().rev().take(1).chain(&errors).find(says_more).or(errors.last());
    error.cloned().map_or_else(|| pool_in(plan, limits, Family::Accumulating, build), Err)
}

/// The schedule in `Gather` of an unpool that is large enough for a specialised kernel: as many dispatches as in
/// `ClaimEmit`, and no owners to read. The generic build of `Gather` checks all indices and then tries every window
/// that can hold an element; it took 4 to 90 times as long as `ClaimEmit` wherever both were measured.
fn large_unpool(plan: &UnpoolPlan, limits: &Target) -> Option<Schedule> {
    let schedule = || gather::schedule(plan, limits, Build::Specialised).ok();
    if claim_emit::scatters(plan) {
        return None;
    }
    is_large(plan.output_elements()).then(schedule).flatten().and_then(|schedule| checked(schedule, limits).ok())
}

fn choose_gather(plan: &UnpoolPlan, limits: &Target, choice: &Choice) -> Result<Schedule, PlanError> {
    match choice.build {
        Some(build) => gather::schedule(plan, limits, build),
        None if is_large(plan.output_elements()) => gather::schedule(plan, limits, Build::Specialised)
            .or_else(|_| gather::schedule(plan, limits, Build::Generic)),
        None => gather::schedule(plan, limits, Build::Generic),
    }
}

// Without debug assertions no window is counted.
#[cfg(debug_assertions)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AdaptiveMaxPool, DType, IndexType, MaxPool, MaxUnpool, Pooling, stream_bytes};
    use wgpu_pooling_plan::Tiling;
    use wgpu_pooling_plan::internal::steps;

    /// Plans whose attributes make planning as expensive as it can be.
    fn hostile_plans() -> Vec<(&'static str, Plan)> {
        let f32 = DType::F32;
        let pool = |name, pool: &dyn Pooling, shape: &[usize], dtype, index_type| {
            (name, pool.plan(shape, dtype, index_type).unwrap_or_else(|error| panic!("{name}: {error}")))
        };
        let i64 = Some(IndexType::I64);
        let far = 1 << 40;
        let mut plans = vec![
            pool("many adaptive windows", &AdaptiveMaxPool::new([1 << 24]), &[1, 1, 35], f32, None),
            pool("more of them", &AdaptiveMaxPool::new([(1 << 31) - 1]), &[1, 1, 35], DType::U8, None),
            pool("two such axes", &AdaptiveMaxPool::new([44_000, 45_000]), &[1, 1, 7, 11], DType::U8, i64),
            pool("planes of them", &AdaptiveMaxPool::new([3, 5]), &[1 << 10, 1 << 10, 7, 11], f32, i64),
            pool("one long window", &MaxPool::new([1 << 30]), &[1, 1, 1 << 30], DType::U8, i64),
            pool("long windows", &MaxPool::new([1 << 20]), &[1, 1, 1 << 24], f32, i64),
            pool("planes of long windows", &MaxPool::new([1_000, 1_000]), &[4, 4, 4_000, 4_000], f32, None),
            pool("wide dilations", &MaxPool::new([2]).dilations([far]).pads([far, far]), &[1, 1, 1 << 20], f32, i64),
            pool(
                "windows that step over their input",
                &MaxPool::new([3]).dilations([70_000]).pads([69_000, 71_500]),
                &[1, 1, 5],
                f32,
                i64,
            ),
            pool(
                "ten axes",
                &MaxPool::new([2; 10]).pads([1; 20]),
                &[1, 1, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8],
                DType::U8,
                i64,
            ),
            pool(
                "small windows everywhere",
                &MaxPool::new([1, 1, 1]),
                &[1, 1, 1 << 10, 1 << 10, 1 << 11],
                DType::U8,
                i64,
            ),
        ];
        let unpool = MaxUnpool::new([1 << 20]).strides([1 << 20]).plan(&[1, 1, 1 << 10], DType::U8, IndexType::I32);
        plans.push(("a large unpool", unpool.unwrap()));
        let overlap = MaxPool::new([64, 64]).pads([32; 4]);
        let inverse = MaxUnpool::inverse_of(&overlap, &[1, 64, 512, 512]);
        plans.push(("many windows over each other", inverse.plan(&[1, 64, 513, 513], f32, IndexType::I64).unwrap()));
        plans
    }

    #[test]
    fn planning_looks_at_few_windows_whatever_it_plans() {
        let limits =
            [Limits::WEBGPU, Limits { max_buffer_bytes: 1 << 40, max_binding_bytes: 1 << 40, ..Limits::WEBGPU }];
        let mut seen = 0;
        for (name, plan) in hostile_plans() {
            for limits in limits {
                steps::take();
                let selected = select(&plan, &limits, &Choice::default()).map(|schedule| schedule.family());
                let selecting = steps::take();
                let found = families(&plan, &limits);
                let all = steps::take();
                assert_eq!(found.first(), selected.as_ref().ok(), "{name}: {selected:?}");
                assert!(selecting < 1 << 17 && all < 1 << 18, "{name}: {selecting}, {all}");
                seen += selecting;
                for budget in [1 << 20, 1 << 32] {
                    let _ = Tiling::new(&plan, budget, |tile| stream_bytes(tile, &limits));
                    let tiling = steps::take();
                    assert!(tiling < 1 << 19, "{name}: {tiling} windows for tiles of {budget} bytes");
                }
            }
        }
        assert!(seen > 0, "windows are counted");
    }
}
