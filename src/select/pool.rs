//! Schedules of pools, by their families.

use wgpu_pooling_plan::{Plan, PlanError, PoolPlan};

use super::bounds::{check_buffer, check_elements};
use super::epilogue::PoolContext;
use super::target::Target;
use super::{accumulate, activation, reduce, sliding, strip, tap_by_tap, team, thread_tile};
use crate::family::{Build, Family};
use crate::schedule::Schedule;

/// Appends a family's dispatches to a schedule that has none.
type Dispatches = fn(&mut Schedule, &PoolContext<'_>) -> Result<(), PlanError>;

/// The schedule of a pool in one family.
pub(super) fn schedule(plan: &PoolPlan, limits: &Target, family: Family, build: Build) -> Result<Schedule, PlanError> {
    let dispatches: Dispatches = match family {
        Family::Direct | Family::Separable => tap_by_tap::dispatches,
        Family::Reducing => reduce::dispatches,
        Family::Accumulating => accumulate::dispatches,
        Family::ThreadTile => thread_tile::dispatches,
        Family::Strip => strip::dispatches,
        Family::Sliding => sliding::dispatches,
        Family::Teamed => team::dispatches,
        _ => return family.refuse("the plan is a pool"),
    };
    let (x, y) = (plan.input_elements(), plan.output_elements());
    check_elements("elements of x", x)?;
    check_elements("elements of y", y)?;
    check_buffer("bytes of x (max_buffer_bytes)", plan.inputs[0].device_bytes(), limits)?;
    let names = ["bytes of y (max_buffer_bytes)", "bytes of indices_out (max_buffer_bytes)"];
    for (what, tensor) in names.into_iter().zip(&plan.outputs) {
        check_buffer(what, tensor.device_bytes(), limits)?;
    }
    let (activation_kind, activation) = activation::activation(plan.activation, plan.dtype())?;
    let mut schedule = Schedule::new(Plan::Pool(plan.clone()), family, build);
    if y > 0 {
        dispatches(&mut schedule, &PoolContext { plan, limits, activation_kind, activation })?;
    }
    Ok(schedule)
}
