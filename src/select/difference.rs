//! Schedules of differences: an invocation a word of Y, in as many dispatches as bindings need.

use wgpu_pooling_plan::{DifferencePlan, Plan, PlanError};

use super::bounds::{MAX_DISPATCHES, check_elements, grid};
use super::epilogue::lanes;
use super::partition::{OUTPUT_UNIT, bound_range, ranges};
use super::view::ElementRange;
use crate::family::{Build, Family};
use crate::kernel::{Kernel, Operand};
use crate::schedule::{Dispatch, Limits, Schedule};
use crate::uniform;
use crate::wgsl::key::KernelKey;

/// The schedule of a difference, whatever kernels were asked for: there is one.
pub(super) fn schedule(plan: &DifferencePlan, limits: &Limits) -> Result<Schedule, PlanError> {
    let (elements, bytes, lanes) = (plan.input_elements(), plan.dtype().bytes(), lanes(plan.dtype()));
    check_elements("elements of y", elements)?;
    let mut schedule = Schedule::new(Plan::Difference(plan.clone()), Family::Direct, Build::Generic);
    let kernel = Kernel::new(format!("difference {}", plan.dtype().name()), "difference");
    let key: KernelKey = kernel.of(plan.dtype()).into();
    let fit = |range: ElementRange| {
        grid(range.count().div_ceil(lanes), limits)?;
        let in_a_binding = "bytes of a difference (max_binding_bytes)";
        PlanError::within(in_a_binding, range.device_bytes(bytes), limits.max_binding_bytes)
    };
    for range in ranges(elements, OUTPUT_UNIT, fit)? {
        let operand = |operand| bound_range(operand, range, bytes, elements);
        let operands = [Operand::X, Operand::Y, Operand::Indices].map(operand).to_vec();
        let grid = grid(range.count().div_ceil(lanes), limits)?;
        let uniform =
            uniform::Difference { outputs: range.count() as u32, grid_width: grid[0], reserved_0: 0, reserved_1: 0 };
        schedule.dispatches.push(Dispatch::new(key.clone(), &uniform, operands, grid, lanes));
    }
    PlanError::within("dispatches", schedule.dispatches.len() as u64, MAX_DISPATCHES)?;
    Ok(schedule)
}
