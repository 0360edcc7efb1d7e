//! Schedules of pools: a list of passes over three axes each. A pass keeps the best candidate of every window.

use wgpu_pooling_plan::internal::{count, device_bytes};
use wgpu_pooling_plan::{Plan, PlanError, PoolPlan};

use super::bounds::{MAX_ITERATIONS, check_buffer, check_bytes, check_elements, grid};
use super::cost::{lines, of_an_index, per_tap};
use super::epilogue::{Epilogue, Wanted, lanes};
use super::partition::{CANDIDATE_BYTES, Groups, Partitioner};
use super::target::Target;
use super::tuning::cost::{OF_A_CANDIDATE, OF_A_CANDIDATE_OF_SOFTWARE, OF_A_WINDOW};
use super::view::{Pass, passes};
use super::{accumulate, activation, reduce, sliding, team, thread_tile};
use crate::family::{Build, Family};
use crate::kernel::{ActivationKind, PassInput, RowLoads, Sink, Specialised};
use crate::keys;
use crate::schedule::{Dispatch, Effort, Schedule};

/// Appends a family's dispatches to a schedule that has none.
type Dispatches = fn(&mut Schedule, &Wanted<'_>) -> Result<(), PlanError>;

/// The schedule of a pool in one family.
pub(super) fn schedule(plan: &PoolPlan, limits: &Target, family: Family, build: Build) -> Result<Schedule, PlanError> {
    let dispatches: Dispatches = match family {
        Family::Direct | Family::Separable => tap_by_tap,
        Family::Reducing => reduce::dispatches,
        Family::Accumulating => accumulate::dispatches,
        Family::ThreadTile => thread_tile::dispatches,
        Family::Sliding => sliding::dispatches,
        Family::Teamed => team::dispatches,
        _ => return family.refuse("the plan is a pool"),
    };
    let (x, y) = (count(plan.input_shape()), count(plan.output_shape()));
    check_elements("elements of x", x)?;
    check_elements("elements of y", y)?;
    check_buffer("bytes of x (max_buffer_bytes)", device_bytes(x, plan.dtype().bytes()), limits)?;
    check_buffer("bytes of y (max_buffer_bytes)", device_bytes(y, plan.dtype().bytes()), limits)?;
    if let Some(indices) = &plan.indices {
        check_buffer("bytes of indices_out (max_buffer_bytes)", device_bytes(y, indices.index_type.bytes()), limits)?;
    }
    let (activation_kind, activation) = activation::activation(plan.activation, plan.dtype())?;
    let mut schedule = Schedule::new(Plan::Pool(plan.clone()), family, build);
    if y > 0 {
        dispatches(&mut schedule, &Wanted { plan, limits, activation_kind, activation })?;
    }
    Ok(schedule)
}

/// Appends the dispatches of the families whose passes read windows tap by tap.
fn tap_by_tap(schedule: &mut Schedule, wanted: &Wanted<'_>) -> Result<(), PlanError> {
    let Wanted { plan, limits, activation_kind, activation } = *wanted;
    let (family, build) = (schedule.family, schedule.build);
    let passes = passes(plan, family, limits)?;
    let epilogue = Epilogue::of(plan, activation, &mut schedule.tables, limits)?;
    let mut uniforms = Vec::new();
    for pass in &passes {
        uniforms.push(epilogue.uniform_of(pass, &mut schedule.tables, limits)?);
    }
    let partitioner = Partitioner { plan, passes: &passes, limits };
    for (number, (pass, uniform)) in passes.iter().zip(&uniforms).enumerate() {
        let last = number.saturating_add(1) == passes.len();
        let sink = if last { Sink::of(plan) } else { Sink::Candidates };
        let input = if number == 0 { PassInput::Elements } else { PassInput::Candidates };
        let lanes = if sink == Sink::Candidates { 1 } else { lanes(plan.dtype()) };
        let of_an_output = pass.iterations().saturating_add(1).saturating_add(epilogue.iterations());
        let iterations = of_an_output.saturating_mul(lanes);
        if iterations > MAX_ITERATIONS {
            return family.refuse("a window is too long for one invocation");
        }
        if sink == Sink::Candidates {
            let bytes = pass.outputs.saturating_mul(CANDIDATE_BYTES);
            check_buffer("bytes of candidates (max_buffer_bytes)", bytes, limits)?;
            schedule.scratch.push(bytes);
        }
        let activation = if sink == Sink::Candidates { ActivationKind::Identity } else { activation_kind };
        let specialised = (build == Build::Specialised).then(|| specialised(pass, &epilogue, plan));
        let key = keys::pool(plan.reduction, plan.dtype(), input, sink, activation, specialised.as_ref());
        let row = specialised.as_ref().map(|it| it.row);
        let effort = effort(pass, input, sink, row, wanted, of_an_index(plan, &epilogue));
        for ranges in partitioner.dispatches(number, sink, &Groups::of(lanes, plan.dtype()))? {
            let grid = grid(ranges.outputs.count().div_ceil(lanes), limits)?;
            let uniform = ranges.uniform(*uniform, grid);
            let operands = ranges.operands(number, input, sink, plan, &key);
            schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, iterations).with(effort));
        }
    }
    check_bytes("bytes of window tables", schedule.tables.bytes(), limits)
}

/// What an invocation of a tap-by-tap pass does.
fn effort(
    pass: &Pass,
    input: PassInput,
    sink: Sink,
    row: Option<RowLoads>,
    wanted: &Wanted<'_>,
    of_an_index: f64,
) -> Effort {
    let (dtype, software) = (wanted.plan.dtype(), wanted.limits.software);
    let [layers, rows, taps] = pass.axes.each_ref().map(|axis| axis.most_taps.max(1) as f64);
    let (rows, taps) = (layers * rows, layers * rows * taps);
    let of_a_candidate = if software { OF_A_CANDIDATE_OF_SOFTWARE } else { OF_A_CANDIDATE };
    // All elements of a word are compared.
    let (bytes, loads, compared, waits) = match (input, row) {
        (PassInput::Elements, Some(RowLoads { words, together, chunks })) => {
            let waits = rows * f64::from(chunks);
            let loads = waits * f64::from(together);
            (dtype.bytes() as u64, loads, if words { loads * lanes(dtype) as f64 } else { taps }, waits)
        }
        (PassInput::Elements, None) => (dtype.bytes() as u64, taps, taps, taps),
        _ => (CANDIDATE_BYTES, taps, of_a_candidate * taps, taps),
    };
    let (outputs, of_an_index) = if sink == Sink::Candidates { (1, 0.0) } else { (lanes(dtype), of_an_index) };
    // Keys of fewer bytes have room for the number of a tap.
    let places = input == PassInput::Elements && sink.index_type().is_some() && dtype.bytes() >= 4;
    let compared = if places { 2.0 * compared } else { compared };
    let of_an_output = OF_A_WINDOW + of_an_index + per_tap(dtype) * compared;
    let apart = outputs.saturating_mul(bytes).saturating_mul(pass.apart());
    let outputs = outputs as f64;
    Effort { operations: outputs * of_an_output, lines: outputs * loads * lines(apart), waits: outputs * waits }
}

/// The constants of a specialised build of a tap-by-tap pass.
fn specialised(pass: &Pass, epilogue: &Epilogue, plan: &PoolPlan) -> Specialised {
    let window = pass.constants(plan.nan_policy);
    let row = RowLoads::of(plan.dtype(), pass.axes[2].most_taps, pass.inner == 1 && window.dilation[2] == 1);
    let layers = pass.axes[0].most_taps as u32;
    Specialised { window, row, layers, digits: pass.digits(), index_digits: epilogue.index_digits(plan) }
}
