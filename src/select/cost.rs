//! Cost: about how long a schedule takes, from what its dispatches do. Of the families that apply to a pool the one of
//! the least cost is selected.

use wgpu_pooling_plan::{DType, PoolPlan};

use super::epilogue::Epilogue;
use super::one_pass::positions_are_indices;
use super::partition::same_place;
use super::tuning::cost::{
    DeviceCosts, GPU, LOADS_TOGETHER, OPS_PER_DIGIT, OPS_PER_OUTPUT, OPS_PER_TAP, OPS_PER_TAP_OF_64_BITS, OPS_PER_TEAM,
    SOFTWARE, TEAM_FACTOR,
};
use super::view::PassAxis;
use crate::family::Family;
use crate::kernel::{IndexDigits, Operand};
use crate::schedule::{Dispatch, Effort, Limits, Schedule};

/// Bytes of a line of cache.
const LINE_BYTES: f64 = 128.0;

/// Neighbouring invocations whose loads are served together.
const NEIGHBOURS: f64 = 32.0;

/// Bytes of a load of a team.
pub(super) const LOAD_BYTES: u64 = 16;

/// The time that a schedule takes, in seconds.
pub(super) fn seconds(schedule: &Schedule, limits: &Limits) -> f64 {
    let device = device(limits);
    schedule.dispatches.iter().map(|dispatch| of_dispatch(dispatch, bytes(schedule, dispatch), device)).sum()
}

/// The least time that a schedule of a pool in a family can take: it moves the bytes of the plan, in at least so many
/// dispatches.
pub(super) fn least_seconds(plan: &PoolPlan, family: Family, limits: &Limits) -> f64 {
    let device = device(limits);
    let dispatches = match family {
        // A dispatch for each axis along which anything is pooled.
        Family::Sliding | Family::Separable => plan.axes.iter().filter(|axis| !PassAxis::is_identity(axis)).count(),
        _ => 1,
    };
    dispatches.max(1) as f64 * device.launch + plan.bytes() as f64 * device.byte
}

fn device(limits: &Limits) -> &'static DeviceCosts {
    if limits.software { &SOFTWARE } else { &GPU }
}

/// Bytes that a dispatch reads and writes, each once. Passes that read the results of others read X only where a window
/// begins or where its maximum is.
fn bytes(schedule: &Schedule, dispatch: &Dispatch) -> f64 {
    let ranges = || dispatch.bindings();
    let later = ranges().any(|(binding, range)| binding.read_only && matches!(range.operand, Operand::Scratch(_)));
    let counts = |operand| operand != Operand::Tables && !(later && operand == Operand::X);
    let bytes = |operand| schedule.operand_bytes(operand).unwrap_or(0);
    let all = ranges().filter(|(_, range)| counts(range.operand));
    all.map(|(_, range)| range.bytes.unwrap_or_else(|| bytes(range.operand)) as f64).sum()
}

/// A dispatch takes what launching it takes, and then about as long as the slowest of four: its bytes, its operations,
/// the lines of cache that it touches, and the loads for which an invocation waits. Fewer invocations than fill the
/// device take as long as those that do.
fn of_dispatch(dispatch: &Dispatch, bytes: f64, device: &DeviceCosts) -> f64 {
    let Effort { operations, lines, waits } = dispatch.effort;
    let invocations = dispatch.invocations() as f64;
    let parts = [
        bytes * device.byte,
        operations * invocations.max(device.invocations) * device.operation,
        lines * invocations * device.line,
        waits * device.wait,
    ];
    let slowest: f64 = parts.into_iter().map(|part| part.powi(device.power)).sum();
    device.launch + slowest.powf(1.0 / f64::from(device.power))
}

/// Lines of cache for a load of each invocation, where neighbours load from addresses `pitch` bytes from each other.
pub(super) fn lines(pitch: u64) -> f64 {
    (pitch as f64 / LINE_BYTES).clamp(1.0 / NEIGHBOURS, 1.0)
}

/// Vector operations that compare an element with a maximum.
pub(super) fn per_tap(dtype: DType) -> f64 {
    if dtype.bytes() > 4 { OPS_PER_TAP_OF_64_BITS } else { OPS_PER_TAP }
}

/// Effort of a team's member that reads `elements` elements.
pub(super) fn team_effort(plan: &PoolPlan, members: u32, elements: u64) -> Effort {
    let outcome = match (&plan.indices, members) {
        (Some(_), _) => 2.0 * OPS_PER_TEAM,
        (None, 1) => 0.5 * OPS_PER_TEAM,
        (None, _) => OPS_PER_TEAM,
    };
    let operations = outcome + TEAM_FACTOR * per_tap(plan.dtype()) * elements as f64;
    let loads = elements as f64 * plan.dtype().bytes() as f64 / LOAD_BYTES as f64;
    Effort { operations, lines: 0.0, waits: loads / LOADS_TOGETHER }
}

/// Vector operations of an invocation that compares so many elements for neighbouring outputs.
pub(super) fn tiles(plan: &PoolPlan, outputs: f64, taps: f64) -> f64 {
    let of_an_output = if plan.indices.is_some() { 1.5 * OPS_PER_OUTPUT } else { OPS_PER_OUTPUT };
    of_an_output * outputs + per_tap(plan.dtype()) * taps
}

/// Vector operations for the index of an output, beside those for its maximum.
pub(super) fn of_an_index(plan: &PoolPlan, epilogue: &Epilogue) -> f64 {
    let IndexDigits { index, store, .. } = epilogue.index_digits(plan);
    let digits = if positions_are_indices(plan) && same_place(plan) { 0 } else { index.saturating_add(store) };
    OPS_PER_DIGIT * f64::from(digits)
}

/// What an output takes in vectors of four, of what one with 32-bit keys takes.
pub(super) fn of_vectors(plan: &PoolPlan) -> f64 {
    let without_indices = match plan.dtype().bytes() {
        1 => 0.3,
        2 => 0.5,
        4 => 0.85,
        _ => 1.0,
    };
    if plan.indices.is_some() { f64::min(1.0, without_indices + 0.3) } else { without_indices }
}

#[cfg(test)]
mod tests {
    use super::super::tuning::cost::NEARLY;
    use super::*;
    use crate::{
        AdaptiveMaxPool, Choice, Family, GlobalMaxPool, IndexType, Layout, MaxPool, Plan, Pooling, families, select,
    };

    #[test]
    fn costs_are_times_that_grow_with_the_tensor_and_the_least_is_selected() {
        let square = |kernel: i64, stride: i64| MaxPool::new([kernel; 2]).strides([stride; 2]).pads([kernel / 2; 4]);
        let pools: [&dyn Pooling; 7] = [
            &square(3, 2),
            &square(5, 1).layout(Layout::Nhwc),
            &square(13, 1),
            &square(9, 3),
            &square(20, 20),
            &GlobalMaxPool::new(),
            &AdaptiveMaxPool::new([5, 6]),
        ];
        let mut seen = 0;
        for (pool, software) in pools.into_iter().flat_map(|pool| [(pool, false), (pool, true)]) {
            let limits = Limits { software, ..Limits::WEBGPU };
            for (dtype, indices) in
                [DType::U8, DType::F16, DType::F32, DType::F64].into_iter().zip([None, Some(IndexType::I64)].repeat(2))
            {
                let plan = |batch| -> Plan { pool.plan(&[batch, 24, 57, 24], dtype, indices).unwrap() };
                let cost = |plan: &Plan, family| {
                    let choice = Choice { family: Some(family), build: None };
                    select(plan, &limits, &choice).ok().map(|schedule| seconds(&schedule, &limits))
                };
                for &family in Family::ALL {
                    let costs: Vec<f64> = [1, 8, 64].iter().filter_map(|&batch| cost(&plan(batch), family)).collect();
                    assert!(costs.iter().all(|cost| cost.is_finite() && *cost > 0.0), "{family:?}: {costs:?}");
                    assert!(costs.is_sorted(), "{family:?} of {dtype:?}: {costs:?}");
                    seen += costs.len();
                }
                let found = families(&plan(8), &limits);
                let selected = select(&plan(8), &limits, &Choice::default()).unwrap();
                assert_eq!(found[0], selected.family());
                // `fastest` tries no strips on software, and beside strips no maxima along one axis at a time.
                let untried = match found.contains(&Family::Strip) {
                    true if software => Some(Family::Strip),
                    is_tried => is_tried.then_some(Family::Sliding),
                };
                let is_tried = |family: &&Family| **family != Family::Accumulating && Some(**family) != untried;
                let Plan::Pool(pool) = plan(8) else { unreachable!("a pool") };
                let mut costs = Vec::new();
                for &family in found[1..].iter().filter(is_tried) {
                    let (least, cost) = (least_seconds(&pool, family, &limits), cost(&plan(8), family).unwrap());
                    assert!(least <= cost, "{family:?} takes at least {least}: {cost}");
                    assert!(seconds(&selected, &limits) <= cost.max(NEARLY * least), "{family:?}");
                    costs.push(cost);
                }
                assert!(costs.is_sorted(), "{found:?}: {costs:?}");
            }
        }
        assert!(seen > 500, "{seen}");
    }
}
