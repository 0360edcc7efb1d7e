//! Schedules of pools: a list of passes over three axes each. A pass keeps the best candidate of every window.

use super::bounds::{MAX_ITERATIONS, check_buffer, check_bytes, check_elements, grid};
use super::epilogue::{Epilogue, constants, index_digits, lanes};
use super::partition::{CANDIDATE_BYTES, Groups, Partitioner};
use super::view::{Pass, passes};
use super::{accumulate, activation, reduce, rows, sliding, team};
use crate::error::PlanError;
use crate::family::{Build, Family};
use crate::kernel::{ActivationKind, PassInput, RowLoads, Sink, Specialised};
use crate::keys;
use crate::plan::{Plan, PoolPlan};
use crate::schedule::{Dispatch, Limits, Schedule};
use crate::tables::Tables;
use crate::tensor::{count, device_bytes};
use crate::uniform;

/// The schedule of a pool in one family.
pub(super) fn schedule(plan: &PoolPlan, limits: &Limits, family: Family, build: Build) -> Result<Schedule, PlanError> {
    if !matches!(
        family,
        Family::Direct
            | Family::Blocked
            | Family::Reducing
            | Family::Sliding
            | Family::Teamed
            | Family::Separable
            | Family::Accumulating
    ) {
        return Err(PlanError::KernelDoesNotApply { family, reason: "the plan is a pool" });
    }
    let (x, y) = (count(plan.input_shape()), count(plan.output_shape()));
    check_elements("elements of X", x)?;
    check_elements("elements of Y", y)?;
    check_buffer("bytes of X", device_bytes(x, plan.dtype().bytes()), limits)?;
    check_buffer("bytes of Y", device_bytes(y, plan.dtype().bytes()), limits)?;
    if let Some(indices) = &plan.indices {
        check_buffer("bytes of Indices", device_bytes(y, indices.index_type.bytes()), limits)?;
    }
    let (activation_kind, activation) = activation::activation(plan.activation, plan.dtype())?;
    // Only a uniform can hold the NaN rule of a part of a window, so such a plan takes the generic build.
    let build = if plan.later_part { Build::Generic } else { build };
    let mut schedule = Schedule {
        plan: Plan::Pool(plan.clone()),
        family,
        build,
        dispatches: Vec::new(),
        tables: Tables::default(),
        scratch: Vec::new(),
    };
    if y == 0 {
        return Ok(schedule);
    }
    match family {
        Family::Accumulating => {
            accumulate::dispatches(&mut schedule, plan, limits, activation_kind, activation)?;
            return Ok(schedule);
        }
        Family::Sliding => {
            sliding::dispatches(&mut schedule, plan, limits, activation_kind, activation)?;
            return Ok(schedule);
        }
        Family::Teamed => {
            team::dispatches(&mut schedule, plan, limits, activation_kind, activation)?;
            return Ok(schedule);
        }
        Family::Blocked => {
            rows::dispatches(&mut schedule, plan, limits, activation_kind, activation)?;
            return Ok(schedule);
        }
        _ => {}
    }
    let (passes, reduction) = match family {
        Family::Reducing => {
            let reduction = reduce::reduction(plan)?;
            (reduction.passes(plan)?, Some(reduction))
        }
        _ => (passes(plan, family, limits)?, None),
    };
    let last = passes.len().saturating_sub(1);
    let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
    let mut uniforms = Vec::new();
    for pass in &passes {
        uniforms.push(epilogue.uniform_of(pass, &mut schedule.tables, limits)?);
    }
    let partitioner = Partitioner { plan, passes: &passes, limits };
    for (number, pass) in passes.iter().enumerate() {
        let sink = match (number == last, &plan.indices) {
            (false, _) => Sink::Candidates,
            (true, None) => Sink::Values,
            (true, Some(indices)) => Sink::ValuesAndIndices(indices.index_type),
        };
        let input = if number == 0 { PassInput::Elements } else { PassInput::Candidates };
        let lanes = if sink == Sink::Candidates { 1 } else { lanes(plan.dtype()) };
        let of_an_output = pass.iterations().saturating_add(1).saturating_add(epilogue.iterations);
        let iterations = of_an_output.saturating_mul(lanes);
        if iterations > MAX_ITERATIONS {
            return Err(PlanError::KernelDoesNotApply { family, reason: "a window is too long for one invocation" });
        }
        if sink == Sink::Candidates {
            let bytes = pass.outputs.saturating_mul(CANDIDATE_BYTES);
            check_buffer("bytes of candidates", bytes, limits)?;
            schedule.scratch.push(bytes);
        }
        let activation = if sink == Sink::Candidates { ActivationKind::Identity } else { activation_kind };
        let specialised = (build == Build::Specialised).then(|| specialised(pass, &uniforms[number], plan));
        let key = match reduction.as_ref().filter(|_| number == 0) {
            Some(reduction) => reduction.key(plan),
            None => keys::pool(plan.reduction, plan.dtype(), input, sink, activation, specialised.as_ref()),
        };
        for ranges in partitioner.dispatches(number, sink, &Groups::of(lanes, plan.dtype()))? {
            let mut uniform: uniform::Pool = uniforms[number];
            uniform.outputs = ranges.outputs.count() as u32;
            uniform.output_first = ranges.outputs.first as u32;
            uniform.x_first = ranges.x.first as u32;
            uniform.in_first = ranges.input.first as u32;
            uniform.store_first = ranges.store.first as u32;
            let grid = grid(ranges.outputs.count().div_ceil(lanes), limits)?;
            uniform.grid_width = grid[0];
            let operands = ranges.operands(number, input, sink, plan, &key);
            schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, iterations));
        }
    }
    check_bytes("bytes of window tables", schedule.tables.bytes(), limits)?;
    Ok(schedule)
}

/// The constants of a specialised build of a tap-by-tap pass.
fn specialised(pass: &Pass, uniform: &uniform::Pool, plan: &PoolPlan) -> Specialised {
    let window = constants(uniform, plan);
    let row = RowLoads::of(plan.dtype(), pass.axes[2].most_taps, pass.inner == 1 && window.dilation[2] == 1);
    let layers = pass.axes[0].most_taps as u32;
    Specialised { window, row, layers, digits: pass.digits(), index_digits: index_digits(uniform, plan) }
}
