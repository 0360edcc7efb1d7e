//! Cost: about how long a schedule takes, from what its dispatches do. Of the families that apply to a pool the one of
//! the least cost is selected.

use wgpu_pooling_plan::{DType, PoolPlan};

use super::tuning::cost::{Device, GPU, OF_A_TAP, OF_A_TAP_OF_64_BITS, OF_AN_OUTPUT, SOFTWARE};
use crate::kernel::Operand;
use crate::schedule::{Dispatch, Limits, Schedule};

/// Bytes of a line of cache.
pub(super) const LINE_BYTES: f64 = 128.0;

/// The time that a schedule takes, in seconds.
pub(super) fn seconds(schedule: &Schedule, limits: &Limits) -> f64 {
    let device = device(limits);
    schedule.dispatches.iter().map(|dispatch| of_dispatch(dispatch, bytes(schedule, dispatch), device)).sum()
}

/// The least time in which any schedule can move the bytes of a plan.
pub(super) fn least_seconds(schedule: &Schedule, limits: &Limits) -> f64 {
    let device = device(limits);
    device.launch + schedule.bytes_moved() as f64 / device.bytes
}

fn device(limits: &Limits) -> &'static Device {
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
/// the lines of cache that neighbouring invocations load, and the loads of an invocation for which it waits one after
/// the other. Where there are too few invocations to fill the device, each takes as long as if there were enough.
fn of_dispatch(dispatch: &Dispatch, bytes: f64, device: &Device) -> f64 {
    let effort = &dispatch.effort;
    let invocations = dispatch.invocations() as f64;
    let lines = (effort.apart * device.together / LINE_BYTES).clamp(1.0, device.together) / device.together;
    let parts = [
        bytes / device.bytes,
        effort.operations * invocations.max(device.invocations) / device.operations,
        effort.loads * lines * invocations / device.lines,
        effort.waits * device.latency,
    ];
    let slowest: f64 = parts.into_iter().map(|part| part.powi(device.power)).sum();
    device.launch + slowest.powf(1.0 / f64::from(device.power))
}

/// Vector operations that compare an element with a maximum.
pub(super) fn per_tap(dtype: DType) -> f64 {
    if dtype.bytes() > 4 { OF_A_TAP_OF_64_BITS } else { OF_A_TAP }
}

/// Vector operations of a thread tile for each output, whatever its window.
pub(super) fn of_an_output(plan: &PoolPlan) -> f64 {
    if plan.indices.is_some() { 1.5 * OF_AN_OUTPUT } else { OF_AN_OUTPUT }
}

/// The share of operations that an element takes of those of 32 bits, where vectors of four are compared.
pub(super) fn of_vectors(plan: &PoolPlan) -> f64 {
    match (plan.dtype().bytes(), &plan.indices) {
        (1, None) => 0.3,
        (1, _) => 0.6,
        (2, _) => 0.8,
        _ => 1.0,
    }
}
