//! The memory that tiles take while they are computed.

use crate::error::{PlanError, within};
use crate::family::Family;
use crate::plan::PoolPlan;
use crate::schedule::{Dispatch, Limits, MAX_WORK, Schedule};
use crate::select::{most_of_a_reduction, select_submit};
use crate::tensor::TensorSpec;

/// Tiles in flight at a time on a device: one that it computes, one that is read or written.
pub(crate) const IN_FLIGHT: u64 = 2;

/// The memory that a tile takes while a device computes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TileBytes {
    /// X, on its way from the source.
    pub host_in: u64,
    /// Y and Indices, on their way to the sink.
    pub host_out: u64,
    /// X with its staging buffer, Y and Indices with their readback buffers, and the schedule's own buffers.
    pub device: u64,
}

impl TileBytes {
    pub fn of(schedule: &Schedule) -> TileBytes {
        let x = schedule.x_bytes().unwrap_or(0);
        let (y, indices) = (schedule.y_bytes().unwrap_or(0), schedule.indices_out_bytes().unwrap_or(0));
        let sum = |of: &[u64]| of.iter().copied().fold(0, u64::saturating_add);
        let read_back = [y, indices].map(|bytes| bytes.checked_next_multiple_of(8).unwrap_or(u64::MAX));
        // Uploaded bytes also lie in a staging buffer until the submit is done.
        let uploaded = sum(&[x, schedule.constants_bytes()]);
        let device = sum(&[uploaded, uploaded, y, indices, sum(&read_back), schedule.scratch_bytes()]);
        TileBytes { host_in: x, host_out: sum(&[y, indices]), device }
    }

    /// The peak memory while a sequence of such tiles is computed.
    pub(super) fn peak(self) -> u64 {
        let device = self.device.saturating_mul(IN_FLIGHT);
        self.host_in.saturating_add(self.host_out).saturating_add(device)
    }
}

/// The peak memory, on the host and on a device, of a run whose largest tile has this plan, if it is within the budget and the
/// limits.
pub(super) fn peak_on_device(plan: &PoolPlan, limits: &Limits, budget_bytes: u64) -> Result<u64, PlanError> {
    let [x, y, indices] = [plan.inputs().first(), plan.outputs().first(), plan.outputs().get(1)]
        .map(|tensor| tensor.map_or(0, TensorSpec::device_bytes));
    within("bytes of x (max_binding_bytes)", x, limits.max_binding_bytes)?;
    within("bytes of y (max_binding_bytes)", y, limits.max_binding_bytes)?;
    within("bytes of indices (max_binding_bytes)", indices, limits.max_binding_bytes)?;
    // Where every tensor of a tile fits one binding, no pass is partitioned, so all tiles run the same way.
    let max_buffer_bytes = limits.max_buffer_bytes.min(limits.max_binding_bytes);
    let limits = &Limits { max_buffer_bytes, ..*limits };
    let schedule = select_submit(plan, limits)?;
    let mut bytes = TileBytes::of(&schedule);
    if schedule.family != Family::Reducing {
        bytes.device = bytes.device.saturating_add(most_of_a_reduction(plan));
    }
    let peak = bytes.peak();
    within("bytes of tiles (budget_bytes)", peak, budget_bytes)?;
    let work = schedule.dispatches.iter().map(Dispatch::work);
    within("loop iterations of a submit", work.fold(0, u64::saturating_add), MAX_WORK)?;
    Ok(peak)
}

/// The peak memory of a run on the CPU, whose tiles are computed one after the other in the same vectors.
pub(super) fn peak_on_cpu(plan: &PoolPlan, budget_bytes: u64) -> Result<u64, PlanError> {
    let tensors = plan.inputs().iter().chain(plan.outputs());
    let peak = tensors.map(TensorSpec::bytes).fold(0, u64::saturating_add);
    within("bytes of tiles (budget_bytes)", peak, budget_bytes)?;
    Ok(peak)
}
