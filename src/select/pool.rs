//! Schedules of pools: a list of passes over three axes, each of which keeps the best candidate of its windows.

use super::digits::{Digit, dense_strides, merge};
use super::{MAX_ITERATIONS, activation, check_bytes, check_elements, grid};
use crate::attributes::{EmptyIndex, Layout};
use crate::element::DType;
use crate::error::PlanError;
use crate::geometry::AxisWindow;
use crate::kernel::{ActivationKind, KernelKey, Sink, Slot, Source, WindowConstants};
use crate::plan::{Plan, PoolAxis, PoolPlan, count};
use crate::schedule::{Build, Dispatch, Family, Limits, Schedule, device_bytes};
use crate::uniform::{self, pair};
use crate::wgsl::nan_policy_number;

/// A window longer than this is cut into parts by the separable family.
const PART_TAPS: u64 = 1_024;

/// Formulas in a kernel are 32-bit; an axis whose numbers reach this is given as a table.
const FORMULA_LIMIT: i64 = 1 << 29;

/// How an axis is given (shaders/window/windows.wgsl).
const TABLE: u32 = 1;
const HOLDERS: u32 = 2;

/// The windows of one axis of a pass.
#[derive(Debug, Clone)]
pub(super) enum PassWindow {
    /// Every output is its own element.
    Identity,
    /// As in the plan.
    Axis(AxisWindow),
    /// First tap and number of taps of each output, and the distance between taps.
    Table(Vec<[i64; 2]>, i64),
    /// From an element to the windows that can hold it, on an axis of so many elements.
    Holders(AxisWindow, u64),
}

/// One axis of a pass.
#[derive(Debug, Clone)]
pub(super) struct PassAxis {
    pub input: u64,
    pub output: u64,
    pub most_taps: u64,
    pub window: PassWindow,
}

impl PassAxis {
    pub fn unit() -> Self {
        PassAxis { input: 1, output: 1, most_taps: 1, window: PassWindow::Identity }
    }

    pub fn of(axis: &PoolAxis) -> Self {
        PassAxis {
            input: axis.input as u64,
            output: axis.output as u64,
            most_taps: axis.most_taps(),
            window: PassWindow::Axis(axis.window),
        }
    }

    /// Whether the axis is left as it is.
    fn is_identity(axis: &PoolAxis) -> bool {
        axis.input == axis.output
            && matches!(
                axis.window,
                AxisWindow::Adaptive | AxisWindow::Strided { kernel: 1, stride: 1, pad_begin: 0, .. }
            )
    }
}

/// Three neighbouring axes, what lies outside them and what lies inside.
struct Pass {
    outer: u64,
    axes: [PassAxis; 3],
    inner: u64,
}

impl Pass {
    fn outputs(&self) -> Result<u64, PlanError> {
        let outputs = self.axes.iter().map(|axis| axis.output);
        let product = outputs.chain([self.outer, self.inner]).try_fold(1u64, u64::checked_mul);
        let outputs = product.unwrap_or(u64::MAX);
        check_elements("candidates", outputs)?;
        Ok(outputs)
    }

    /// Loop iterations of one output: each loop counts itself and what it contains.
    fn iterations(&self) -> u64 {
        self.axes.iter().rev().fold(0, |inside: u64, axis| axis.most_taps.saturating_mul(inside.saturating_add(1)))
    }
}

/// How the axes of a plan are taken up by passes, the innermost first.
fn passes(plan: &PoolPlan, family: Family, limits: &Limits) -> Result<Vec<Pass>, PlanError> {
    let axes = &plan.axes;
    let (outer, inner) = match plan.layout {
        Layout::Nchw => (plan.batch as u64 * plan.channels as u64, 1),
        Layout::Nhwc => (plan.batch as u64, plan.channels as u64),
    };
    let mut extents: Vec<u64> = axes.iter().map(|axis| axis.input as u64).collect();
    let mut passes = Vec::new();
    let mut pass = |extents: &[u64], begin: usize, end: usize, of: [PassAxis; 3]| {
        passes.push(Pass {
            outer: outer * extents[..begin].iter().product::<u64>(),
            axes: of,
            inner: inner * extents[end..].iter().product::<u64>(),
        });
    };
    if family == Family::Direct {
        let mut end = axes.len();
        while end > 0 {
            let begin = end.saturating_sub(3);
            let mut of = [PassAxis::unit(), PassAxis::unit(), PassAxis::unit()];
            for (slot, axis) in of.iter_mut().rev().zip(axes[begin..end].iter().rev()) {
                *slot = PassAxis::of(axis);
            }
            pass(&extents, begin, end, of);
            for axis in begin..end {
                extents[axis] = axes[axis].output as u64;
            }
            end = begin;
        }
        return Ok(passes);
    }
    let mut busy: Vec<usize> = (0..axes.len()).rev().filter(|&axis| !PassAxis::is_identity(&axes[axis])).collect();
    // Axes that shrink come first, so that the candidates between two passes are never more than they must be. Positions
    // break ties, so the order of the passes does not show.
    busy.sort_by(|&a, &b| {
        let ratio = |of: usize, by: usize| axes[of].output as u128 * axes[by].input as u128;
        ratio(a, b).cmp(&ratio(b, a))
    });
    // A pool that moves nothing still has to be written.
    let busy = if busy.is_empty() { vec![axes.len() - 1] } else { busy };
    for axis in busy {
        for level in levels(&axes[axis], limits)? {
            let output = level.output;
            pass(&extents, axis, axis + 1, [PassAxis::unit(), PassAxis::unit(), level]);
            extents[axis] = output;
        }
    }
    Ok(passes)
}

/// An axis whose windows are too long for one invocation, as several levels of parts.
fn levels(axis: &PoolAxis, limits: &Limits) -> Result<Vec<PassAxis>, PlanError> {
    let mut levels = Vec::new();
    let mut current = PassAxis::of(axis);
    while current.most_taps > PART_TAPS {
        let parts = current.most_taps.div_ceil(PART_TAPS);
        check_bytes("bytes of window tables", current.output.saturating_mul(parts).saturating_mul(8), limits)?;
        let taps = |o: u64| match &current.window {
            PassWindow::Table(table, _) => table[o as usize],
            _ => {
                let taps = axis.taps(o as usize);
                [taps.first, taps.count]
            }
        };
        let step = match &current.window {
            PassWindow::Table(_, step) => *step,
            _ => axis.taps(0).step,
        };
        let mut table = Vec::new();
        for o in 0..current.output {
            let [first, taps] = taps(o);
            for part in 0..parts {
                let done = (part * PART_TAPS) as i64;
                table.push([first + done.min(taps) * step, (taps - done).clamp(0, PART_TAPS as i64)]);
            }
        }
        let output = current.output * parts;
        levels.push(PassAxis {
            input: current.input,
            output,
            most_taps: PART_TAPS,
            window: PassWindow::Table(table, step),
        });
        let combine = (0..current.output).map(|o| [(o * parts) as i64, parts as i64]).collect();
        current =
            PassAxis { input: output, output: current.output, most_taps: parts, window: PassWindow::Table(combine, 1) };
    }
    levels.push(current);
    Ok(levels)
}

/// The schedule of a pool in one family.
pub(super) fn schedule(plan: &PoolPlan, limits: &Limits, family: Family, build: Build) -> Result<Schedule, PlanError> {
    if !matches!(family, Family::Direct | Family::Separable) {
        return Err(PlanError::KernelDoesNotApply { family, reason: "the plan is a pool" });
    }
    let (x, y) = (count(&plan.input_shape), count(&plan.output_shape));
    check_elements("elements of X", x)?;
    check_elements("elements of Y", y)?;
    check_bytes("bytes of X", device_bytes(x, plan.dtype.bytes()), limits)?;
    check_bytes("bytes of Y", device_bytes(y, plan.dtype.bytes()), limits)?;
    if let Some(indices) = &plan.indices {
        check_bytes("bytes of Indices", device_bytes(y, indices.index_type.bytes()), limits)?;
    }
    let (activation_kind, activation) = activation::activation(plan.activation, plan.dtype)?;
    let mut schedule = Schedule {
        plan: Plan::Pool(plan.clone()),
        family,
        build,
        dispatches: Vec::new(),
        // A binding cannot be empty.
        tables: vec![0, 0],
        scratch: Vec::new(),
    };
    if y == 0 {
        return Ok(schedule);
    }
    let passes = passes(plan, family, limits)?;
    let last = passes.len() - 1;
    let finish = Finish::of(plan, activation, &mut schedule.tables, limits)?;
    for (number, pass) in passes.iter().enumerate() {
        let outputs = pass.outputs()?;
        let sink = match (number == last, &plan.indices) {
            (false, _) => Sink::Candidates,
            (true, None) => Sink::Values,
            (true, Some(indices)) => Sink::ValuesAndIndices(indices.index_type),
        };
        let source = if number == 0 { Source::Elements } else { Source::Candidates };
        let lanes = if sink == Sink::Candidates { 1 } else { lanes(plan.dtype) };
        let iterations = (pass.iterations() + 1 + finish.iterations).saturating_mul(lanes);
        if iterations > MAX_ITERATIONS {
            return Err(PlanError::KernelDoesNotApply { family, reason: "a window is too long for one invocation" });
        }
        let mut axes = [<uniform::Axis as bytemuck::Zeroable>::zeroed(); uniform::AXES];
        for (slot, axis) in axes.iter_mut().zip(&pass.axes) {
            *slot = pass_axis(axis, &mut schedule.tables, limits)?;
        }
        axes[3..].copy_from_slice(&finish.axes);
        let grid = grid(outputs.div_ceil(lanes), limits)?;
        let constants = (build == Build::Specialised).then(|| WindowConstants {
            kernel: [0, 1, 2].map(|axis| axes[axis].kernel),
            stride: [0, 1, 2].map(|axis| axes[axis].stride),
            dilation: [0, 1, 2].map(|axis| axes[axis].dilation),
            kind: [0, 1, 2].map(|axis| axes[axis].kind),
            nan_policy: plan.nan_policy,
        });
        let uniform = uniform::Pool {
            outputs: outputs as u32,
            inner: pass.inner as u32,
            grid_width: grid[0],
            axes,
            ..finish.uniform
        };
        let activation = if sink == Sink::Candidates { ActivationKind::Identity } else { activation_kind };
        let key = KernelKey::Pool { dtype: plan.dtype, source, sink, activation, constants };
        let mut slots = vec![Slot::X];
        match sink {
            Sink::Candidates => {}
            Sink::Values => slots.push(Slot::Y),
            Sink::ValuesAndIndices(_) => slots.push(Slot::Y),
        }
        if source == Source::Candidates {
            slots.push(Slot::Scratch(number - 1));
        }
        if sink == Sink::Candidates {
            check_bytes("bytes of candidates", outputs * 8, limits)?;
            schedule.scratch.push(outputs * 8);
            slots.push(Slot::Scratch(number));
        }
        slots.push(Slot::Tables);
        if let Sink::ValuesAndIndices(_) = sink {
            slots.push(Slot::IndicesOut);
        }
        let uniform = bytemuck::bytes_of(&uniform).to_vec();
        schedule.dispatches.push(Dispatch { key, uniform, slots, grid, indirect: None, iterations });
    }
    check_bytes("bytes of window tables", schedule.tables.len() as u64 * 4, limits)?;
    Ok(schedule)
}

/// Elements of Y that one invocation writes: a whole word.
pub(super) fn lanes(dtype: DType) -> u64 {
    (4 / dtype.bytes() as u64).max(1)
}

/// An axis as the uniform has it; its table, if it needs one, goes to the others.
pub(super) fn pass_axis(axis: &PassAxis, tables: &mut Vec<u32>, limits: &Limits) -> Result<uniform::Axis, PlanError> {
    let mut twin = uniform::Axis {
        input: axis.input as u32,
        output: axis.output as u32,
        kernel: 1,
        stride: 1,
        dilation: 1,
        pad_begin: 0,
        kind: 0,
        table: 0,
    };
    let entries: Box<dyn Iterator<Item = [i64; 2]>> = match &axis.window {
        PassWindow::Identity => return Ok(twin),
        PassWindow::Holders(AxisWindow::Strided { kernel, stride, dilation, pad_begin }, extent)
            if fits_formula(axis, [*kernel, *stride, *dilation, *pad_begin])
                && i128::from(*kernel) * i128::from(*dilation) < i128::from(FORMULA_LIMIT) =>
        {
            twin.kernel = *kernel as u32;
            twin.stride = *stride as u32;
            twin.dilation = *dilation as u32;
            twin.pad_begin = *pad_begin as i32;
            twin.kind = HOLDERS;
            twin.table = *extent as u32;
            return Ok(twin);
        }
        PassWindow::Holders(window, extent) => {
            Box::new((0..axis.output).map(|p| window.holders(p as usize, *extent as usize, axis.input as usize)))
        }
        PassWindow::Axis(AxisWindow::Strided { kernel, stride, dilation, pad_begin })
            if fits_formula(axis, [*kernel, *stride, *dilation, *pad_begin]) =>
        {
            twin.kernel = *kernel as u32;
            twin.stride = *stride as u32;
            twin.dilation = *dilation as u32;
            twin.pad_begin = *pad_begin as i32;
            return Ok(twin);
        }
        PassWindow::Axis(window) => {
            // A step beyond the input is never taken.
            twin.dilation = window.taps(0, axis.input as usize, axis.output as usize).step.min(FORMULA_LIMIT) as u32;
            Box::new((0..axis.output).map(|o| {
                let taps = window.taps(o as usize, axis.input as usize, axis.output as usize);
                [taps.first, taps.count]
            }))
        }
        PassWindow::Table(table, step) => {
            twin.dilation = (*step).min(FORMULA_LIMIT) as u32;
            Box::new(table.iter().copied())
        }
    };
    check_bytes("bytes of window tables", axis.output.saturating_mul(8), limits)?;
    twin.kind = TABLE;
    twin.table = tables.len() as u32;
    // The device may have room for tables that the host has not.
    let (words, there) = (axis.output as usize * 2, tables.len() as u64 * 4);
    tables.try_reserve_exact(words).map_err(|_| PlanError::ExceedsLimit {
        what: "bytes of window tables in the host's memory",
        needed: there + axis.output * 8,
        limit: there,
    })?;
    for [first, count] in entries {
        // A first tap beyond 32 bits belongs to an empty window.
        tables.extend([u32::try_from(first).unwrap_or(u32::MAX), count as u32]);
    }
    Ok(twin)
}

fn fits_formula(axis: &PassAxis, attributes: [i64; 4]) -> bool {
    let [_, stride, _, _] = attributes;
    let last_start = (axis.output as i64 - 1).saturating_mul(stride);
    let numbers = attributes.into_iter().chain([axis.input as i64, last_start]);
    numbers.into_iter().all(|number| number.abs() < FORMULA_LIMIT)
}

/// What the last pass needs besides its windows: values, index convention, activation.
struct Finish {
    uniform: uniform::Pool,
    axes: [uniform::Axis; uniform::AXES - 3],
    iterations: u64,
}

impl Finish {
    fn of(
        plan: &PoolPlan,
        activation: uniform::Activation,
        tables: &mut Vec<u32>,
        limits: &Limits,
    ) -> Result<Finish, PlanError> {
        let mut finish = Finish {
            uniform: uniform::Pool {
                nan_policy: nan_policy_number(plan.nan_policy),
                empty_value: pair(plan.empty_value.bits(plan.dtype)),
                lowest_value: pair(plan.dtype.seed_bits()),
                channels_inner: if plan.layout == Layout::Nhwc { plan.channels as u32 } else { 1 },
                activation,
                ..bytemuck::Zeroable::zeroed()
            },
            axes: [bytemuck::Zeroable::zeroed(); uniform::AXES - 3],
            iterations: 0,
        };
        let Some(indices) = &plan.indices else {
            return Ok(finish);
        };
        let strides = indices.space.strides();
        let inputs: Vec<usize> = plan.axes.iter().map(|axis| axis.input).collect();
        let outputs: Vec<usize> = plan.axes.iter().map(|axis| axis.output).collect();
        let store = dense_strides(indices.space.layout, plan.channels, &outputs);
        let uniform = &mut finish.uniform;
        uniform.index_digits =
            fill(&mut uniform.index, merge(digits(plan, &inputs, strides.n, strides.c, &strides.spatial)));
        uniform.store_digits =
            fill(&mut uniform.store, merge(digits(plan, &outputs, store.n, store.c, &store.spatial)));
        let nothing = vec![0; outputs.len()];
        uniform.empty_digits = fill(&mut uniform.empty, merge(digits(plan, &outputs, strides.n, strides.c, &nothing)));
        let (kind, offset) = match indices.empty {
            EmptyIndex::MinusOne => (0, -1),
            EmptyIndex::UnitBase => (1, 0),
            EmptyIndex::OrtUnderflow => (1, -strides.spatial.iter().sum::<i64>()),
            EmptyIndex::ClampedStart => (2, 0),
        };
        uniform.empty_kind = kind;
        uniform.empty_index = pair(offset as u64);
        if indices.empty == EmptyIndex::ClampedStart && plan.has_empty_windows() {
            let largest = plan.axes.iter().map(|axis| axis.window.largest_first(axis.input, axis.output)).max();
            if largest.is_some_and(|largest| largest > i64::from(u32::MAX)) {
                return Err(PlanError::NotOnGpu { what: "clamped starts beyond 32 bits" });
            }
            uniform.spatial_axes = plan.axes.len() as u32;
            for (i, axis) in plan.axes.iter().enumerate().rev() {
                let slot = plan.axes.len() - 1 - i;
                finish.axes[slot] = pass_axis(&PassAxis::of(axis), tables, limits)?;
                uniform.spatial[slot] =
                    uniform::Digit { radix: axis.output as u32, reserved: 0, stride: pair(strides.spatial[i] as u64) };
            }
        }
        finish.iterations =
            u64::from(uniform.index_digits + uniform.store_digits + uniform.empty_digits + uniform.spatial_axes);
        Ok(finish)
    }
}

/// The digits of a position in X or of an output's number, fastest first, with the strides of n, c and the spatial axes.
fn digits(plan: &PoolPlan, extents: &[usize], n: i64, c: i64, spatial: &[i64]) -> Vec<Digit<1>> {
    let digit = |radix: usize, stride: i64| Digit { radix: radix as u64, strides: [stride] };
    let mut digits: Vec<Digit<1>> =
        extents.iter().zip(spatial).rev().map(|(&extent, &stride)| digit(extent, stride)).collect();
    let channel = digit(plan.channels, c);
    match plan.layout {
        Layout::Nchw => digits.push(channel),
        Layout::Nhwc => digits.insert(0, channel),
    }
    digits.push(digit(plan.batch, n));
    digits
}

fn fill(slots: &mut [uniform::Digit], digits: Vec<Digit<1>>) -> u32 {
    for (slot, digit) in slots.iter_mut().zip(&digits) {
        *slot = uniform::Digit { radix: digit.radix as u32, reserved: 0, stride: pair(digit.strides[0] as u64) };
    }
    digits.len() as u32
}
