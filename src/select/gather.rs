//! Schedules of unpools whose indices are expected to lie in their sources' windows. The device computes Y from these
//! windows and checks that every index lies in its window. Where one does not, its source claims the element, and a
//! last step settles which source wins, unless such indices are an error or skipped.

use wgpu_pooling_plan::{
    AxisWindow, IndexStrides, Layout, OutOfBounds, OutsideWindow, Plan, PlanError, PoolAxis, UnpoolPlan,
};

use super::bounds::{MAX_ITERATIONS, check_bytes, grid};
use super::claim_emit::{OWNERS, owners_bytes};
use super::digits::{Coordinate, dense_strides, index_coordinates};
use super::epilogue::lanes;
use super::target::Target;
use super::tuning::unpool::{IDLE_INVOCATIONS, IDLE_INVOCATIONS_OF_SOFTWARE};
use super::view::{PassAxis, pass_axis};
use super::{activation, cells, claim_emit};
use crate::family::{Build, Family};
use crate::kernel::{ActivationKind, Operand, WORKGROUP};
use crate::schedule::{BoundRange, Dispatch, Limits, Schedule};
use crate::tables::{PassWindow, Tables};
use crate::uniform::{self, Divisor};
use crate::wgsl::key::KernelKey;

/// The schedule of a gathering unpool.
pub(super) fn schedule(plan: &UnpoolPlan, limits: &Target, build: Build) -> Result<Schedule, PlanError> {
    claim_emit::check_sizes(plan, limits)?;
    let Some(windows) = &plan.windows else {
        return Family::Gather.refuse("the windows exceed 64-bit positions");
    };
    if windows.len() > 3 {
        return Family::Gather.refuse("there are more than three spatial axes");
    }
    let scatters = plan.outside_window == OutsideWindow::Scatter;
    let mut schedule = Schedule::new(Plan::Unpool(plan.clone()), Family::Gather, build);
    let without_outputs = plan.output_shape().contains(&0) && (scatters || build == Build::Specialised);
    if plan.input_shape().contains(&0) || without_outputs {
        return Family::Gather.refuse("there is nothing to gather");
    }
    if scatters {
        let owners = plan.output_elements();
        if owners_bytes(owners) > limits.max_binding_bytes || limits.max_storage_buffers < SETTLING_BUFFERS {
            return Family::Gather.refuse("indices that may lie anywhere need an owner for each output in one binding");
        }
        claim_emit::with_owners(&mut schedule, owners, limits)?;
    }
    let axes = axes(plan, windows, &mut schedule.tables, limits);
    let fit = |found| check_bytes("bytes of window tables", schedule.tables.bytes(), limits).map(|()| found);
    let (covering, own) = match axes.and_then(fit) {
        // The general path needs no tables and covers plans whose tables are too large.
        Err(PlanError::ExceedsLimit { .. }) if scatters => {
            return Family::Gather.refuse("the window tables exceed the device's limits");
        }
        other => other?,
    };
    let sources_read =
        covering.iter().rev().fold(0, |inside: u64, (_, most)| most.saturating_mul(inside.saturating_add(1)));
    let iterations = sources_read.saturating_add(1).saturating_mul(lanes(plan.dtype()));
    if iterations > MAX_ITERATIONS {
        return Family::Gather.refuse("too many windows hold the same element");
    }
    let (activation_kind, activation) = activation::activation(plan.activation, plan.dtype())?;
    let cells = || cells::cells(plan, &own, activation_kind, limits);
    let cells = (scatters || build == Build::Specialised).then(cells).transpose()?;
    let uniform = uniform(plan, activation, cells.as_ref(), covering.map(|(axis, _)| axis), own);
    let mut gathering = Gathering { plan, limits, uniform, schedule };
    match (build, &cells) {
        (Build::Specialised, Some(cells)) => gathering.cells(cells)?,
        _ => gathering.windows(activation_kind, iterations, cells.as_ref())?,
    }
    if let Some(cells) = cells.filter(|_| scatters) {
        gathering.settle(cells.settle)?;
    }
    Ok(gathering.schedule)
}

/// Words of Y that an invocation of the last step looks at together (`PER_TURN` in shaders/kernel/unpool_settle.wgsl).
const WORDS_PER_TURN: u64 = 4;

/// Storage buffers of the last step of an unpool whose indices may lie anywhere.
const SETTLING_BUFFERS: u32 = 5;

/// A schedule under construction.
struct Gathering<'a> {
    plan: &'a UnpoolPlan,
    limits: &'a Target,
    uniform: uniform::Gather,
    schedule: Schedule,
}

impl Gathering<'_> {
    fn dispatch(&mut self, key: KernelKey, grid: [u32; 3], operands: &[Operand], iterations: u64) {
        let mut uniform: uniform::Gather = self.uniform;
        uniform.grid_width = grid[0];
        let operands = operands.iter().copied().map(BoundRange::whole).collect();
        self.schedule.dispatches.push(Dispatch::new(key, &uniform, operands, grid, iterations));
    }

    /// Where the kernel tells of indices outside their windows.
    fn any_outside(&self) -> &'static [Operand] {
        match self.plan.outside_window {
            OutsideWindow::Scatter => &[OWNERS],
            OutsideWindow::Skip => &[],
            _ => &[Operand::Report],
        }
    }

    /// One kernel that checks indices and writes stride cells.
    fn cells(&mut self, cells: &cells::Cells) -> Result<(), PlanError> {
        let operands = [&[Operand::X, Operand::Y, Operand::Indices], self.any_outside()].concat();
        self.dispatch(cells.key.clone(), grid(cells.blocks, self.limits)?, &operands, cells.iterations);
        Ok(())
    }

    /// A kernel that checks indices, unless bad ones are skipped, and one that finds the sources of every element of Y.
    fn windows(
        &mut self,
        activation: ActivationKind,
        iterations: u64,
        cells: Option<&cells::Cells>,
    ) -> Result<(), PlanError> {
        let (dtype, index_type) = (self.plan.dtype(), self.plan.index_type);
        let (sources, outputs) = (self.plan.input_elements(), self.plan.output_elements());
        let outside = self.plan.outside_window;
        if outside != OutsideWindow::Skip {
            let check = [&[Operand::Indices, Operand::Tables], self.any_outside()].concat();
            let name = format!("unpool check {}{}", index_type.name(), cells::others(outside));
            let checks = cells::kernel(name, "unpool_check")
                .reads(Some(index_type))
                .with([(outside.name(), 1), ("WIDE_INDICES", 0)])
                .constants([("SKIPS_FIRST", self.plan.first_elements.is_some().into())])
                .constants(cells.iter().flat_map(|cells| cells.places));
            self.dispatch(checks.into(), grid(sources, self.limits)?, &check, self.uniform.digits.into());
        }
        if outputs > 0 {
            let gather = cells::kernel(format!("unpool gather {}", dtype.name()), "unpool_gather").of(dtype);
            let gather = gather.activated(activation).reads(Some(index_type)).into();
            let operands = [Operand::X, Operand::Y, Operand::Indices, Operand::Tables];
            self.dispatch(gather, grid(outputs.div_ceil(lanes(dtype)), self.limits)?, &operands, iterations);
        }
        Ok(())
    }

    /// The last step, which does nothing but write the report unless an index lies outside its window.
    fn settle(&mut self, key: KernelKey) -> Result<(), PlanError> {
        let lanes = lanes(self.plan.dtype());
        let words = self.plan.output_elements().div_ceil(lanes);
        // To look at a word and to settle its elements.
        let of_a_word = lanes.saturating_add(2);
        let most_words = MAX_ITERATIONS.checked_div(of_a_word).unwrap_or(0).max(1);
        let by_device = if self.limits.software { IDLE_INVOCATIONS_OF_SOFTWARE } else { IDLE_INVOCATIONS };
        let idle = self.limits.sizes.idle.unwrap_or(by_device);
        let invocations = words.div_ceil(WORDS_PER_TURN).min(idle.max(words.div_ceil(most_words)));
        let grid = grid(invocations, self.limits)?;
        let invocations = grid.into_iter().map(u64::from).fold(WORKGROUP, u64::saturating_mul);
        self.uniform.blocks = invocations as u32;
        self.uniform.split[1] = Divisor::new(self.uniform.covering[2].output.into());
        let operands = [Operand::X, Operand::Y, Operand::Indices, OWNERS, Operand::Report];
        self.dispatch(key, grid, &operands, words.div_ceil(invocations.max(1)).saturating_mul(of_a_word));
        Ok(())
    }
}

/// The uniform of all dispatches, without the fields that depend on the dispatch. `covering` and `own` are the axes of
/// [`axes`].
fn uniform(
    plan: &UnpoolPlan,
    activation: uniform::Activation,
    cells: Option<&cells::Cells>,
    covering: [uniform::Axis; 3],
    own: [uniform::Axis; 3],
) -> uniform::Gather {
    let mut uniform = uniform::Gather {
        outputs: plan.output_elements() as u32,
        sources: plan.input_elements() as u32,
        inner: if plan.layout() == Layout::Nhwc { plan.channels as u32 } else { 1 },
        outer_channels: if plan.layout() == Layout::Nhwc { 1 } else { plan.channels as u32 },
        index_limit: plan.space.index_count() as u32,
        skip_minus_one: plan.skip_minus_one.into(),
        activation,
        blocks: cells.map_or(0, |cells| cells.blocks as u32),
        channels: plan.channels as u32,
        report: (plan.out_of_bounds == OutOfBounds::Error).into(),
        split: cells.map_or(bytemuck::Zeroable::zeroed(), |cells| cells.split),
        covering,
        windows: own,
        value: strides(&plan.space.strides()),
        stored: strides(&dense_strides(plan.space.layout, plan.channels, &plan.x_extents)),
        ..bytemuck::Zeroable::zeroed()
    };
    let y = dense_strides(plan.layout(), plan.channels, &plan.y_extents);
    [uniform.own_n, uniform.own_c] = claim_emit::own_strides(plan, &y).map(|stride| stride as u32);
    let digits = index_coordinates(&plan.space);
    let skipped = 3usize.saturating_sub(plan.y_extents.len());
    uniform.digits = digits.len() as u32;
    for (entry, (coordinate, radix)) in uniform.index.iter_mut().zip(digits) {
        let stride = claim_emit::stride_of(coordinate, &y) as u32;
        let coordinate = match coordinate {
            Coordinate::Axis(axis) => skipped.saturating_add(axis) as u32,
            Coordinate::Channel => 3,
            Coordinate::Batch => 4,
        };
        let radix = Divisor::new(radix as u64);
        *entry = uniform::CoordinateDigit { radix, coordinate, stride, reserved_0: 0, reserved_1: 0 };
    }
    uniform
}

/// For each of three axes: the covering windows of a coordinate of Y with their largest number, and the windows of
/// sources.
type UnpoolAxes = ([(uniform::Axis, u64); 3], [uniform::Axis; 3]);

fn axes(
    plan: &UnpoolPlan,
    windows: &[AxisWindow],
    tables: &mut Tables,
    limits: &Limits,
) -> Result<UnpoolAxes, PlanError> {
    let unit = PassAxis::unit();
    let (mut covering, mut own) = ([(unit.twin(), 1); 3], [unit.twin(); 3]);
    let entries = covering.iter_mut().zip(&mut own).skip(3usize.saturating_sub(windows.len()));
    for ((axis, &window), (covering_axis, own_axis)) in windows.iter().enumerate().zip(entries) {
        let (input, output, extent) = (plan.x_extents[axis], plan.y_extents[axis], plan.space.extents[axis]);
        // The last step, which settles who wins, counts the only source of an axis as the one of its only output, also
        // where its window lies in the padding. Otherwise such a source would claim and be settled as if it had not.
        let single = [input, output, extent] == [1; 3] && plan.outside_window == OutsideWindow::Scatter;
        let alone = AxisWindow::Strided { kernel: 1, stride: 1, dilation: 1, pad_begin: 0 };
        let window = if single { alone } else { window };
        let most = window.most_covering_windows(input);
        let held = PassAxis {
            input: input as u64,
            output: output as u64,
            most_taps: most,
            window: PassWindow::CoveringWindows(window, extent as u64),
        };
        *covering_axis = (pass_axis(&held, tables, limits)?, most);
        let window = PassAxis::of(&PoolAxis { input: extent, output: input, window });
        *own_axis = pass_axis(&window, tables, limits)?;
    }
    Ok((covering, own))
}

/// The uniform's strides. They stay below 2^31 because the elements of Y do, so they fit 32 bits.
fn strides(strides: &IndexStrides) -> uniform::Strides {
    let mut spatial = [0; 3];
    for (entry, &stride) in spatial.iter_mut().rev().zip(strides.spatial.iter().rev()) {
        *entry = stride as u32;
    }
    let [axis_0, axis_1, axis_2] = spatial;
    uniform::Strides {
        n: strides.n as u32,
        c: strides.c as u32,
        axis_0,
        axis_1,
        axis_2,
        reserved_0: 0,
        reserved_1: 0,
        reserved_2: 0,
    }
}
