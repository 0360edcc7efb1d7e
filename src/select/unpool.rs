//! Schedules of unpools: clear the owners, let every source claim its target, write every output word from its owners.

use super::digits::{Coordinate, Digit, dense_strides, index_coordinates, merge};
use super::pool::lanes;
use super::{activation, check_bytes, check_elements, grid};
use crate::attributes::{IndexFlattening, OutOfBounds};
use crate::error::PlanError;
use crate::index::IndexStrides;
use crate::kernel::{KernelKey, Slot};
use crate::plan::{Plan, UnpoolPlan, count};
use crate::schedule::{Build, Dispatch, Family, Limits, Part, STATUS_WORDS, Schedule, device_bytes};
use crate::uniform;

/// The schedule of an unpool.
pub(super) fn schedule(plan: &UnpoolPlan, limits: &Limits) -> Result<Schedule, PlanError> {
    let (sources, outputs) = (count(&plan.input_shape), count(&plan.output_shape));
    check_elements("elements of X", sources)?;
    check_elements("elements of Y", outputs)?;
    check_bytes("bytes of X", device_bytes(sources, plan.dtype.bytes()), limits)?;
    check_bytes("bytes of Indices", device_bytes(sources, plan.index_type.bytes()), limits)?;
    check_bytes("bytes of Y", device_bytes(outputs, plan.dtype.bytes()), limits)?;
    check_bytes("bytes of owners", outputs * 4, limits)?;
    let (activation_kind, activation) = activation::activation(plan.activation, plan.dtype)?;
    let mut schedule = Schedule {
        plan: Plan::Unpool(plan.clone()),
        family: Family::ClaimEmit,
        build: Build::Generic,
        dispatches: Vec::new(),
        tables: vec![0, 0],
        scratch: Vec::new(),
    };
    // An output without elements still has its indices checked; without sources and outputs there is nothing to do.
    if sources == 0 && outputs == 0 {
        return Ok(schedule);
    }
    let mut uniform = uniform::Unpool {
        sources: sources as u32,
        outputs: outputs as u32,
        unit: plan.space.unit() as u32,
        skip_minus_one: plan.skip_minus_one.into(),
        report: (plan.out_of_bounds == OutOfBounds::Error).into(),
        activation,
        ..bytemuck::Zeroable::zeroed()
    };
    let y = dense_strides(plan.layout, plan.channels, &plan.outputs);
    let source_digits = merge(source_digits(plan, &y));
    for (slot, digit) in uniform.source.iter_mut().zip(&source_digits) {
        let [x_stride, index_stride, target_stride] = digit.strides.map(|stride| stride as u32);
        *slot = uniform::SourceDigit { radix: digit.radix as u32, x_stride, index_stride, target_stride };
    }
    uniform.source_digits = source_digits.len() as u32;
    let target_digits = merge(target_digits(plan, &y));
    for (slot, digit) in uniform.targets.iter_mut().zip(&target_digits) {
        let [stride] = digit.strides.map(|stride| stride as u32);
        *slot = uniform::TargetDigit { radix: digit.radix as u32, stride, reserved_0: 0, reserved_1: 0 };
    }
    uniform.target_digits = target_digits.len() as u32;

    let owners = Slot::Scratch(0);
    schedule.scratch.push((outputs * 4).max(4));
    let (dtype, index_type) = (plan.dtype, plan.index_type);
    let lanes = lanes(dtype);
    let loops = u64::from(uniform.source_digits + uniform.target_digits);
    let mut dispatch = |key: KernelKey, invocations: u64, slots: &[Slot], iterations: u64| -> Result<(), PlanError> {
        let grid = grid(invocations, limits)?;
        let mut uniform: uniform::Unpool = uniform;
        uniform.grid_width = grid[0];
        let uniform = bytemuck::bytes_of(&uniform).to_vec();
        schedule.dispatches.push(Dispatch {
            key,
            uniform,
            slots: slots.iter().copied().map(Part::whole).collect(),
            grid,
            indirect: None,
            iterations,
        });
        Ok(())
    };
    dispatch(KernelKey::UnpoolClear, outputs.max(STATUS_WORDS), &[owners, Slot::Status], 0)?;
    if sources > 0 {
        let slots = [Slot::Indices, owners, Slot::Status];
        dispatch(KernelKey::UnpoolClaim { index_type }, sources, &slots, loops)?;
    }
    let key = KernelKey::UnpoolEmit { dtype, index_type, activation: activation_kind };
    let slots = [Slot::X, Slot::Y, Slot::Indices, owners, Slot::Status];
    dispatch(key, outputs.div_ceil(lanes).max(1), &slots, lanes * (1 + loops))?;
    Ok(schedule)
}

/// The digits of a source's rank in (n, c, spatial) order: what a step adds to the position in X, to the position in the
/// index tensor, and to the target where the index does not name n or c itself.
fn source_digits(plan: &UnpoolPlan, y: &IndexStrides) -> Vec<Digit<3>> {
    let x = dense_strides(plan.layout, plan.channels, &plan.inputs);
    let index = dense_strides(plan.space.layout, plan.channels, &plan.inputs);
    let (own_n, own_c) = match plan.space.flatten {
        IndexFlattening::Tensor => (0, 0),
        IndexFlattening::Batch => (y.n, 0),
        IndexFlattening::Plane => (y.n, y.c),
    };
    let spatial = plan.inputs.iter().zip(x.spatial.iter().zip(&index.spatial)).rev();
    let mut digits: Vec<Digit<3>> =
        spatial.map(|(&extent, (&x, &index))| Digit { radix: extent as u64, strides: [x, index, 0] }).collect();
    digits.push(Digit { radix: plan.channels as u64, strides: [x.c, index.c, own_c] });
    digits.push(Digit { radix: plan.batch as u64, strides: [x.n, index.n, own_n] });
    digits
}

/// The digits of an index, and what a step of each adds to the position in Y.
fn target_digits(plan: &UnpoolPlan, y: &IndexStrides) -> Vec<Digit<1>> {
    let digit = |(coordinate, extent): (Coordinate, usize)| {
        let stride = match coordinate {
            Coordinate::Axis(axis) => y.spatial[axis],
            Coordinate::Channel => y.c,
            Coordinate::Batch => y.n,
        };
        Digit { radix: extent as u64, strides: [stride] }
    };
    index_coordinates(&plan.space).into_iter().map(digit).collect()
}
