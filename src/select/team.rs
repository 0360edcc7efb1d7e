//! Schedules of pools whose windows are shared by teams of invocations: neighbouring members read neighbouring words.

use wgpu_pooling_plan::{AxisWindow, Layout, PlanError, PoolPlan};

use super::cost::{LOAD_BYTES, team_effort};
use super::epilogue::{PoolContext, lanes};
use super::one_pass::OnePass;
use super::partition::Groups;
use super::tuning::team::{LEAST_LOADS, LEAST_LOADS_OF_ROW, MEMBERS, MOST_ALONG, MOST_APART};
use super::view::{Pass, PassAxis, only_pass};
use crate::family::Family;
use crate::kernel::{Fact, Kernel, PassDigits, PassOutput, WORKGROUP};
use crate::schedule::Schedule;
use crate::tables::PassWindow;
use crate::wgsl::key::KernelKey;

/// Rows that an invocation reads at the same time (shaders/core/share.wgsl).
const ROWS_TOGETHER: u64 = 4;

// Teams divide a workgroup, by shifts.
const _: () = assert!((MOST_ALONG * MOST_APART).is_power_of_two() && MOST_ALONG * MOST_APART <= WORKGROUP);

/// The window of each output of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TeamWindow {
    /// A whole plane.
    Plane,
    /// The candidates of the parts of a plane.
    Candidates,
    /// Rows: `along` invocations share each row; `deep` tells whether the window has several layers of rows.
    Rows { along: u32, deep: bool },
}

/// A team, and its division of a window.
struct Team {
    members: u32,
    window: TeamWindow,
    /// The most loads of a member, and its loop iterations.
    loads: u64,
    iterations: u64,
}

/// Appends the dispatches to a schedule that has none.
pub(super) fn dispatches(schedule: &mut Schedule, context: &PoolContext<'_>) -> Result<(), PlanError> {
    let PoolContext { plan, limits, .. } = *context;
    if plan.layout() == Layout::Nhwc && plan.channels > 1 {
        return Family::Teamed.refuse("the elements of a row do not lie together");
    }
    let plane = plane_elements(plan, Family::Teamed).ok().filter(|&elements| elements > 0);
    let (pass, team) = match plane {
        Some(elements) => {
            (plane_pass(plan, elements, elements, 1)?, Team::of_plane(plan, elements, limits.sizes.members))
        }
        None => {
            let pass = only_pass(plan, Family::Teamed, limits)?;
            let team = Team::of_rows(plan, &pass, limits.sizes.members)?;
            (pass, team)
        }
    };
    let one = OnePass::new(schedule, context, pass)?;
    let (lanes, members) = (lanes(plan.dtype()), u64::from(team.members));
    // Invocations are numbered in 32 bits.
    PlanError::within("invocations", one.pass.outputs.saturating_mul(members), u64::from(u32::MAX))?;
    let of_an_output =
        team.iterations.saturating_add(members).saturating_add(one.epilogue.iterations()).saturating_add(1);
    let iterations = of_an_output.saturating_mul(lanes);
    if iterations > super::bounds::MAX_ITERATIONS {
        return Family::Teamed.refuse("a window is too long for a team of invocations");
    }
    let key = kernel(context, team.members, team.window, &one.pass);
    let groups = Groups { invocations_per_group: members, ..Groups::of(lanes, plan.dtype()) };
    let in_a_load = LOAD_BYTES.checked_div(plan.dtype().bytes() as u64).unwrap_or(1);
    let elements = team.loads.saturating_mul(in_a_load).saturating_mul(lanes);
    let effort = team_effort(plan, team.members, elements);
    one.dispatches(schedule, key, &groups, 1, iterations, effort)
}

/// The elements of a plane, if the windows of a plan are whole, contiguous planes.
///
/// # Errors
/// [`PlanError::KernelDoesNotApply`] of this family if they are not.
pub(super) fn plane_elements(plan: &PoolPlan, family: Family) -> Result<u64, PlanError> {
    if plan.layout() == Layout::Nhwc && plan.channels > 1 {
        return family.refuse("the elements of a plane do not lie together");
    }
    let whole = plan.axes.iter().all(|axis| {
        let taps = axis.taps(0);
        axis.output == 1 && taps.first == 0 && taps.count == axis.input as i64 && (taps.step == 1 || taps.count == 1)
    });
    if !whole {
        return family.refuse("a window is not a whole plane");
    }
    Ok(plan.axes.iter().fold(1, |elements: u64, axis| elements.saturating_mul(axis.input as u64)))
}

/// A pass in which a plane is one axis: windows of `kernel` of its elements or of its candidates, `stride` apart. The
/// stride may count elements of X where there is one window only.
pub(super) fn plane_pass(plan: &PoolPlan, extent: u64, kernel: u64, stride: u64) -> Result<Pass, PlanError> {
    let output = extent.div_ceil(kernel.max(1));
    let (most_taps, kernel, stride) = (kernel.min(extent), kernel as i64, stride as i64);
    let window = PassWindow::Axis(AxisWindow::Strided { kernel, stride, dilation: 1, pad_begin: 0 });
    let axis = PassAxis { input: extent, output, most_taps, window };
    Pass::of(plan.planes(), [PassAxis::unit(), PassAxis::unit(), axis], 1)
}

/// The most loads that `elements` contiguous elements take: they may begin and end within a load.
fn loads(plan: &PoolPlan, elements: u64) -> u64 {
    elements.saturating_mul(plan.dtype().bytes() as u64).div_ceil(LOAD_BYTES).saturating_add(1)
}

impl Team {
    fn of_plane(plan: &PoolPlan, elements: u64, asked: Option<u32>) -> Team {
        let loads = loads(plan, elements);
        let large = |(least, members): &&(u64, u32)| asked.map_or(loads >= *least, |asked| asked >= *members);
        let members = MEMBERS.iter().find(large).map_or(1, |(_, members)| *members);
        let loads = loads.div_ceil(u64::from(members).max(1));
        Team { members, window: TeamWindow::Plane, loads, iterations: loads.saturating_add(2) }
    }

    /// A team as large as the window's loads allow. Members divide a row first, so that neighbours read neighbouring
    /// words; then they divide the rows.
    fn of_rows(plan: &PoolPlan, pass: &Pass, asked: Option<u32>) -> Result<Team, PlanError> {
        let [layers, rows, row] = pass.axes.each_ref().map(|axis| axis.most_taps.max(1));
        let [.., PassAxis { window: PassWindow::Axis(window), .. }] = &pass.axes else {
            return Family::Teamed.refuse("the last axis has no windows");
        };
        if row > 1 && matches!(window, AxisWindow::Strided { dilation: 2.., .. }) {
            return Family::Teamed.refuse("the elements of a row do not lie together");
        }
        let rows = layers.saturating_mul(rows);
        let loads = loads(plan, row);
        let power = |members: u64| 1u32 << members.max(1).ilog2();
        // At least two members share a row.
        let along = power((loads / LEAST_LOADS_OF_ROW).clamp(2, MOST_ALONG));
        let members_of_rows = asked.map_or(rows.saturating_mul(loads) / LEAST_LOADS, u64::from);
        let members_of_rows = power(members_of_rows.min(MOST_APART).min(rows));
        let of_an_invocation = rows.div_ceil(ROWS_TOGETHER.saturating_mul(members_of_rows.into()));
        let iterations = of_an_invocation.saturating_mul(loads.div_ceil(along.into()).saturating_add(1));
        Ok(Team {
            members: along.saturating_mul(members_of_rows),
            window: TeamWindow::Rows { along, deep: layers > 1 },
            loads: rows.div_ceil(members_of_rows.into()).saturating_mul(loads.div_ceil(along.into())),
            iterations,
        })
    }
}

/// The facts of kernels that load four words of X at a time, and what their names say.
pub(super) fn by_quads(plan: &PoolPlan) -> ([Fact; 2], &'static str) {
    // An array of vectors covers all of X only if X is a whole number of vectors.
    let whole = plan.input_elements().saturating_mul(plan.dtype().bytes() as u64).is_multiple_of(16);
    ([("BY_QUADS", 1), ("WHOLE_QUADS", whole.into())], if whole { "vectors" } else { "words" })
}

/// A pool whose windows are shared by teams of invocations; for small planes a team is one invocation.
pub(super) fn kernel(context: &PoolContext<'_>, members: u32, window: TeamWindow, pass: &Pass) -> KernelKey {
    let PoolContext { plan, activation_kind, .. } = *context;
    let (dtype, sink) = (plan.dtype(), PassOutput::of(plan));
    let size = dtype.bytes() as u32;
    let (by_quads, loads) = by_quads(plan);
    let mut consts = vec![("TEAM", members), ("WINDOWS", 4u32.div_ceil(size)), ("KEY_WORDS", size.div_ceil(4))];
    let what = match window {
        TeamWindow::Plane => "planes".to_owned(),
        TeamWindow::Candidates => "candidates".to_owned(),
        TeamWindow::Rows { along, deep } => {
            consts.extend([("ALONG", along), ("DEEP", deep.into())]);
            consts.extend(PassDigits::ALL.consts());
            let layers = if deep { "layers of rows" } else { "rows" };
            format!("{layers}, {along} invocations along them,")
        }
    };
    if let TeamWindow::Rows { .. } = window {
        consts.extend(pass.consts(plan.nan_policy));
    } else {
        consts.push(("NAN_POLICY", plan.nan_policy as u32));
    }
    let entry = match window {
        TeamWindow::Plane if members == 1 => "pool_values",
        _ => "pool_team",
    };
    let name = format!("pool {} to {}, {what} by teams of {members}, {loads}", dtype.name(), sink.name());
    let candidates = ("CANDIDATES", u32::from(window == TeamWindow::Candidates));
    Kernel::of_pool(name, entry, plan, sink, activation_kind).with(by_quads).with([candidates]).constants(consts).into()
}
