//! Schedules of index conversions: clear the report, convert every index, look up the first bad one.

use wgpu_pooling_plan::internal::{count, device_bytes, within};
use wgpu_pooling_plan::{ConvertPlan, IndexSpace, Layout, Plan, PlanError};

use super::bounds::{check_buffer, check_elements, grid};
use super::digits::{Coordinate, dense_strides, index_coordinates};
use super::partition::{bound_range, ranges};
use super::view::ElementRange;
use crate::family::{Build, Family};
use crate::kernel::Operand;
use crate::keys;
use crate::schedule::{BoundRange, Dispatch, Limits, Schedule};
use crate::tables::Tables;
use crate::uniform::{self, pair};

/// The coordinate of a digit: the channel, the batch, or a spatial axis.
const CHANNEL: u32 = 3;
const BATCH: u32 = 4;
const AXIS: u32 = 0;

/// Steps of a 64-bit division (shaders/index/divide.wgsl).
const DIVISION: u64 = 64;

/// The schedule of an index conversion.
pub(super) fn schedule(plan: &ConvertPlan, limits: &Limits) -> Result<Schedule, PlanError> {
    let indices = count(plan.input_shape());
    check_elements("indices", indices)?;
    check_buffer("bytes of indices (max_buffer_bytes)", device_bytes(indices, plan.from_type.bytes()), limits)?;
    check_buffer("bytes of indices_out (max_buffer_bytes)", device_bytes(indices, plan.to_type.bytes()), limits)?;
    let mut schedule = Schedule {
        plan: Plan::Convert(plan.clone()),
        family: Family::Convert,
        build: Build::Generic,
        dispatches: Vec::new(),
        tables: Tables::default(),
        scratch: Vec::new(),
    };
    if indices == 0 {
        return Ok(schedule);
    }
    let uniform = uniform(plan)?;
    let of_digits = u64::from(uniform.digits).saturating_mul(1 + DIVISION);
    let iterations = of_digits.saturating_add(uniform.place_digits.into());
    let (from_type, to_type) = (plan.from_type, plan.to_type);
    let from = |range: ElementRange| places(plan, range, plan.from.layout).aligned(from_type.bytes());
    let to = |range: ElementRange| places(plan, range, plan.to.layout).aligned(to_type.bytes());
    let fit = |range: ElementRange| {
        grid(range.count(), limits)?;
        let [from_bytes, to_bytes] = [(from(range), from_type), (to(range), to_type)]
            .map(|(places, index_type)| device_bytes(places.count(), index_type.bytes()));
        // Two different layouts order a batch item differently, so a whole item has to be bound.
        within("bytes of a batch item (max_binding_bytes)", from_bytes.max(to_bytes), limits.max_binding_bytes)
    };
    let chunks = ranges(indices, 1, fit)?;
    let mut dispatch = |key, uniform: &uniform::Convert, grid: [u32; 3], operands: Vec<BoundRange>, iterations| {
        schedule.dispatches.push(Dispatch::new(key, uniform, operands, grid, iterations));
    };
    let report = BoundRange::whole(Operand::Report);
    dispatch(keys::convert_clear(), &uniform, [1, 1, 1], vec![report], 0);
    let (convert, read_bad) = (keys::convert_indices(from_type, to_type), keys::convert_report(from_type));
    for chunk in chunks {
        let grid = grid(chunk.count(), limits)?;
        let (from, to) = (from(chunk), to(chunk));
        let mut uniform: uniform::Convert = uniform;
        uniform.count = chunk.count() as u32;
        uniform.grid_width = grid[0];
        uniform.rank_first = chunk.first as u32;
        uniform.from_first = from.first as u32;
        uniform.from_count = from.count() as u32;
        uniform.to_first = to.first as u32;
        let read = bound_range(Operand::Indices, from, from_type.bytes(), indices);
        let written = bound_range(Operand::IndicesOut, to, to_type.bytes(), indices);
        dispatch(convert.clone(), &uniform, grid, vec![read, report, written], iterations);
        dispatch(read_bad.clone(), &uniform, [1, 1, 1], vec![read, report], 0);
    }
    Ok(schedule)
}

/// The uniform of all dispatches, without the fields that depend on the dispatch.
fn uniform(plan: &ConvertPlan) -> Result<uniform::Convert, PlanError> {
    let names = |space: &IndexSpace| (space.flatten.counts_batch(), space.flatten.counts_channels());
    let ((from_n, from_c), (to_n, to_c)) = (names(&plan.from), names(&plan.to));
    let to = plan.to.strides();
    let own = |named: bool, stride: i64| if named { [0, 0] } else { pair(stride as u64) };
    let mut uniform = uniform::Convert {
        unit: pair(plan.from.unit()),
        names_n: to_n.into(),
        names_c: to_c.into(),
        own_n: own(from_n, to.n),
        own_c: own(from_c, to.c),
        ..bytemuck::Zeroable::zeroed()
    };
    for (entry, digit) in uniform.place.iter_mut().zip(place_digits(plan)) {
        *entry = digit;
    }
    uniform.place_digits = plan.input_shape().len() as u32;
    let digits = index_coordinates(&plan.from);
    uniform.digits = digits.len() as u32;
    for (entry, (coordinate, extent)) in uniform.index.iter_mut().zip(digits) {
        let radix = u32::try_from(extent).map_err(|_| PlanError::NotOnGpu { what: "extents beyond 32 bits" })?;
        let (coordinate, stride) = match coordinate {
            Coordinate::Axis(axis) => (AXIS, to.spatial[axis]),
            Coordinate::Channel => (CHANNEL, to.c),
            Coordinate::Batch => (BATCH, to.n),
        };
        *entry = uniform::ConvertDigit { radix, coordinate, stride: pair(stride as u64) };
    }
    Ok(uniform)
}

/// The positions, in a tensor of this layout, of indices given by their ranks.
fn places(plan: &ConvertPlan, ranks: ElementRange, layout: Layout) -> ElementRange {
    let item = count(&plan.input_shape()[1..]);
    if layout == Layout::Nchw || plan.from.channels == 1 || item == plan.from.channels as u64 {
        return ranks;
    }
    ranks.whole(item)
}

/// The digits of an index's rank in (n, c, spatial) order, with their strides in the source and in the destination
/// tensor.
fn place_digits(plan: &ConvertPlan) -> Vec<uniform::PlaceDigit> {
    let strides = |space: &IndexSpace| dense_strides(space.layout, space.channels, &plan.extents);
    let (from, to) = (strides(&plan.from), strides(&plan.to));
    let digit = |extent: usize, from: i64, to: i64, coordinate: u32| uniform::PlaceDigit {
        radix: extent as u32,
        from_stride: from as u32,
        to_stride: to as u32,
        coordinate,
    };
    let axes = (0..plan.extents.len()).rev();
    let mut digits: Vec<uniform::PlaceDigit> =
        axes.map(|axis| digit(plan.extents[axis], from.spatial[axis], to.spatial[axis], AXIS)).collect();
    digits.push(digit(plan.from.channels, from.c, to.c, CHANNEL));
    digits.push(digit(plan.from.batch, from.n, to.n, BATCH));
    digits
}
