//! Schedules of compositions: the dispatches of each step in their order, in one schedule. What lies between steps is
//! scratch memory.

use wgpu_pooling_plan::{CompositionPlan, Plan, PlanError};

use super::bounds::MAX_DISPATCHES;
use crate::family::{Build, Family};
use crate::kernel::Operand;
use crate::schedule::{BoundRange, Dispatch, Schedule};

/// Buffers of scratch memory, each with its bytes and the last step that uses it so far. A later step may use it again.
#[derive(Default)]
struct ScratchBuffers(Vec<(u64, usize)>);

impl ScratchBuffers {
    /// The number of a buffer that no other step uses from step `from` to step `until`.
    fn take(&mut self, bytes: u64, from: usize, until: usize) -> usize {
        let number = self.0.iter().position(|&(_, used)| used < from).unwrap_or(self.0.len());
        match self.0.get_mut(number) {
            Some(buffer) => *buffer = (buffer.0.max(bytes), until),
            None => self.0.push((bytes, until)),
        }
        number
    }
}

/// The schedules of all steps as one.
pub(super) fn joined(plan: &CompositionPlan, steps: &[Schedule]) -> Result<Schedule, PlanError> {
    let specialised = steps.iter().any(|step| step.build == Build::Specialised);
    let build = if specialised { Build::Specialised } else { Build::Generic };
    let first = steps.first().map_or(Family::Direct, |step| step.family);
    let mut joined = Schedule::new(Plan::Composition(plan.clone()), first, build);
    let (mut buffers, mut tensors) = (ScratchBuffers::default(), vec![Operand::X]);
    for ((number, step), own) in plan.steps.iter().enumerate().zip(steps) {
        let written = number.saturating_add(1);
        let y = match plan.last_reader(written) {
            Some(reader) => Operand::Scratch(buffers.take(plan.tensor(written).device_bytes(), number, reader)),
            None => Operand::Y,
        };
        tensors.push(y);
        let scratch: Vec<usize> = own.scratch.iter().map(|&bytes| buffers.take(bytes, number, number)).collect();
        let tables = joined.tables.append(&own.tables);
        let tensor = |input: usize| step.inputs.get(input).and_then(|&number| tensors.get(number));
        let placed = |range: &BoundRange| {
            let (operand, ahead) = match range.operand {
                Operand::X => (*tensor(0).unwrap_or(&Operand::X), 0),
                Operand::Indices => (*tensor(1).unwrap_or(&Operand::Indices), 0),
                Operand::Y => (y, 0),
                Operand::Scratch(number) => (Operand::Scratch(*scratch.get(number).unwrap_or(&number)), 0),
                Operand::Tables => (Operand::Tables, tables),
                other => (other, 0),
            };
            // The buffer may be larger than what the step has in it.
            let shared = matches!(operand, Operand::Scratch(_) | Operand::Tables);
            let bytes = range.bytes.or_else(|| own.operand_bytes(range.operand).filter(|_| shared));
            BoundRange { operand, offset: range.offset.saturating_add(ahead), bytes }
        };
        if number > 0 {
            joined.later_families.push((joined.dispatches.len(), own.family));
        }
        for dispatch in &own.dispatches {
            let operands = dispatch.operands.iter().map(placed).collect();
            joined.dispatches.push(Dispatch { operands, ..dispatch.clone() });
        }
    }
    // Without elements there is nothing to compute.
    if !joined.dispatches.is_empty() {
        joined.scratch = buffers.0.into_iter().map(|(bytes, _)| bytes).collect();
    }
    PlanError::within("dispatches", joined.dispatches.len() as u64, MAX_DISPATCHES)?;
    Ok(joined)
}
