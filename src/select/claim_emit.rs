//! Schedules of unpools on the general path: let every source claim its target, write every output word from its
//! owners. Where any source may win: write zeros, let every source write to its target.

use wgpu_pooling_plan::{Duplicates, IndexStrides, Layout, OutOfBounds, OutsideWindow, Plan, PlanError, UnpoolPlan};

use super::activation;
use super::bounds::{MAX_DISPATCHES, check_buffer, check_elements, grid};
use super::digits::{Coordinate, Digit, dense_strides, index_coordinates, merge};
use super::epilogue::lanes;
use super::partition::{OUTPUT_UNIT, bound_range, ranges};
use super::view::ElementRange;
use crate::family::{Build, Family};
use crate::kernel::{ActivationKind, Kernel, Operand, WORKGROUP};
use crate::schedule::{BoundRange, Dispatch, Limits, Schedule};
use crate::uniform::{self, Divisor};
use crate::wgsl::key::KernelKey;

/// The numbers of digits into which the general path of an unpool splits ranks and indices (shaders/core/unpool.wgsl).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct UnpoolDigits {
    /// Digits of a source's rank; zero where the rank is the position in X and in the index tensor, and indices count n
    /// and c.
    source: u32,
    /// Digits of an index; zero where the index is the position in Y.
    target: u32,
    /// Spatial axes of a source, where the index of the first element of its plane may say that nothing won; zero where
    /// it never does.
    first_axes: u32,
}

impl UnpoolDigits {
    /// For a kernel that splits no number.
    const NONE: UnpoolDigits = UnpoolDigits { source: 0, target: 0, first_axes: 0 };
}

/// The schedule of an unpool.
pub(super) fn schedule(plan: &UnpoolPlan, limits: &Limits) -> Result<Schedule, PlanError> {
    let (sources, outputs) = (plan.input_elements(), plan.output_elements());
    check_sizes(plan, limits)?;
    // Without sources there is no index that could lie outside its window.
    if plan.outside_window != OutsideWindow::Scatter && sources > 0 {
        return Family::ClaimEmit.refuse("indices outside their windows are not scattered");
    }
    let (activation_kind, activation) = activation::activation(plan.activation, plan.dtype())?;
    let mut schedule = Schedule::new(Plan::Unpool(plan.clone()), Family::ClaimEmit, Build::Generic);
    // Where only the output is empty, the indices are still checked.
    if sources == 0 && outputs == 0 {
        return Ok(schedule);
    }
    let (uniform, digits) = uniform(plan, activation);
    let fit = |range: ElementRange| {
        grid(invocations(range.count()), limits)?;
        let bytes = range.device_bytes(plan.dtype().bytes()).max(owners_bytes(range.count()));
        PlanError::within("bytes of outputs and their owners (max_binding_bytes)", bytes, limits.max_binding_bytes)
    };
    let windows = at_least_one(ranges(outputs, OUTPUT_UNIT, fit)?);
    let fit = |chunk: ElementRange| {
        grid(invocations(chunk.count()), limits)?;
        let x_bytes = x_of(plan, chunk).device_bytes(plan.dtype().bytes());
        let index_bytes = indices_of(plan, chunk).device_bytes(plan.index_type.bytes());
        // Where the data is NHWC and the indices are NCHW, or the reverse, a batch item is ordered differently, so a
        // whole item is bound.
        PlanError::within(
            "bytes of a batch item (max_binding_bytes)",
            x_bytes.max(index_bytes),
            limits.max_binding_bytes,
        )
    };
    let chunks = at_least_one(ranges(sources, 1, fit)?);
    let claims = ClaimEmit { plan, limits, activation_kind, uniform, digits, sources, outputs };
    if scatters(plan) {
        schedule.dispatches = claims.scattering(&windows, &chunks)?;
        return Ok(schedule);
    }
    let largest = windows.iter().map(|window| window.count()).max().unwrap_or(0);
    with_owners(&mut schedule, largest, limits)?;
    schedule.dispatches.extend(claims.by_owners(&windows, &chunks)?);
    Ok(schedule)
}

/// Gives a schedule without dispatches the scratch memory for this many owners, and the dispatch that clears it.
pub(super) fn with_owners(schedule: &mut Schedule, owners: u64, limits: &Limits) -> Result<(), PlanError> {
    let bytes = owners_bytes(owners);
    let quads = bytes.div_ceil(OWNERS_AT_ONCE.saturating_mul(OWNER_BYTES as u64));
    let uniform = uniform::Unpool { outputs: quads as u32, ..bytemuck::Zeroable::zeroed() };
    let key = kernel("unpool clear".to_owned(), "unpool_clear", UnpoolDigits::NONE).into();
    schedule.dispatches.push(dispatch(&key, uniform, quads, vec![BoundRange::whole(OWNERS)], 1, limits)?);
    schedule.scratch.push(bytes);
    schedule.clears_scratch = true;
    Ok(())
}

/// The bytes of this many owners, whole quads, after the words of shaders/core/owners.wgsl.
pub(super) fn owners_bytes(owners: u64) -> u64 {
    let quads = owners.max(1).next_multiple_of(OWNERS_AT_ONCE);
    quads.saturating_add(OWNERS_AT_ONCE).saturating_mul(OWNER_BYTES as u64)
}

/// Whether sources write their targets themselves, in two steps: bad indices are skipped, any of equal indices may win,
/// and an element is one word, so that one store writes all of it and nothing of its neighbours.
pub(super) fn scatters(plan: &UnpoolPlan) -> bool {
    let free = plan.duplicates == Duplicates::Any && plan.out_of_bounds == OutOfBounds::Skip;
    free && plan.outside_window == OutsideWindow::Scatter && plan.dtype().bytes() == 4
}

/// Refuses tensors that are larger than the limits or than kernels can number.
pub(super) fn check_sizes(plan: &UnpoolPlan, limits: &Limits) -> Result<(), PlanError> {
    let (sources, outputs) = (plan.input_elements(), plan.output_elements());
    check_elements("elements of x", sources)?;
    check_elements("elements of y", outputs)?;
    let names =
        ["bytes of x (max_buffer_bytes)", "bytes of indices (max_buffer_bytes)", "bytes of y (max_buffer_bytes)"];
    for (what, tensor) in names.into_iter().zip(plan.inputs.iter().chain(&plan.outputs)) {
        check_buffer(what, tensor.device_bytes(), limits)?;
    }
    Ok(())
}

/// The uniform of all dispatches, without the fields that depend on the dispatch, and the numbers of digits that
/// kernels split: none where a source's rank is its position, or where an index is the number of its output.
fn uniform(plan: &UnpoolPlan, activation: uniform::Activation) -> (uniform::Unpool, UnpoolDigits) {
    let mut uniform = uniform::Unpool {
        index_limit: plan.space.index_count() as u32,
        skip_minus_one: plan.skip_minus_one.into(),
        report: (plan.out_of_bounds == OutOfBounds::Error).into(),
        activation,
        ..bytemuck::Zeroable::zeroed()
    };
    let y = dense_strides(plan.layout(), plan.channels, &plan.y_extents);
    let source_digits = merge(source_digits(plan, &y));
    for (entry, digit) in uniform.source.iter_mut().zip(&source_digits) {
        let [x_stride, index_stride, target_stride] = digit.strides.map(|stride| stride as u32);
        let radix = Divisor::new(digit.radix);
        *entry = uniform::SourceDigit { radix, x_stride, index_stride, target_stride, extent: 0 };
    }
    let target_digits = merge(target_digits(plan, &y));
    for (entry, digit) in uniform.targets.iter_mut().zip(&target_digits) {
        let [stride] = digit.strides.map(|stride| stride as u32);
        let radix = Divisor::new(digit.radix);
        *entry = uniform::TargetDigit { radix, stride, first: 0, step: 0, count: 0 };
    }

    let own_place = source_digits.iter().all(|digit| digit.strides == [1, 1, 0]);
    let own_target = target_digits.iter().all(|digit| digit.strides == [1] && digit.radix == plan.space.index_count());
    let digits = UnpoolDigits {
        source: if own_place { 0 } else { source_digits.len() as u32 },
        target: if own_target { 0 } else { target_digits.len() as u32 },
        first_axes: set_first_elements(plan, &mut uniform),
    };
    (uniform, digits)
}

/// Sets the sources whose windows have the first element of an axis, and returns the number of axes, if they matter.
fn set_first_elements(plan: &UnpoolPlan, uniform: &mut uniform::Unpool) -> u32 {
    let Some(sources) = &plan.first_elements else { return 0 };
    let strides = plan.space.strides();
    uniform.channels = plan.channels as u32;
    (uniform.base_n, uniform.base_c) = (strides.n as u32, strides.c as u32);
    // The innermost axis first. A step beyond all sources has no effect.
    let axes = plan.x_extents.iter().zip(sources).rev();
    for ((source, target), (&extent, sources)) in uniform.source.iter_mut().zip(&mut uniform.targets).zip(axes) {
        source.extent = extent as u32;
        target.first = sources.first as u32;
        (target.step, target.count) = (sources.step.clamp(1, i64::from(u32::MAX)) as u32, sources.count as u32);
    }
    sources.len() as u32
}

/// Sources, owners or words of an invocation (`PER_TURN` in shaders/core/unpool.wgsl).
const PER_INVOCATION: u64 = 8;

/// Invocations for this many sources, owners or words.
fn invocations(numbers: u64) -> u64 {
    numbers.div_ceil(WORKGROUP.saturating_mul(PER_INVOCATION)).saturating_mul(WORKGROUP)
}

/// Bytes of an owner: a word.
const OWNER_BYTES: usize = 4;

/// Owners in a vector.
const OWNERS_AT_ONCE: u64 = 4;

pub(super) const OWNERS: Operand = Operand::Scratch(0);

/// One empty range instead of none: without sources the outputs still have to be written, and without outputs the
/// indices still have to be checked.
fn at_least_one(ranges: Vec<ElementRange>) -> Vec<ElementRange> {
    if ranges.is_empty() { vec![ElementRange { first: 0, end: 0 }] } else { ranges }
}

/// The positions, in a tensor of this layout, of sources given by their ranks in (n, c, spatial) order.
fn places(plan: &UnpoolPlan, sources: ElementRange, layout: Layout) -> ElementRange {
    let item = plan.input_elements().checked_div(plan.batch as u64).unwrap_or(0);
    if layout == Layout::Nchw || plan.channels == 1 || item == plan.channels as u64 || sources.count() == 0 {
        return sources;
    }
    sources.whole(item)
}

/// The elements of X that hold the sources of a chunk.
fn x_of(plan: &UnpoolPlan, chunk: ElementRange) -> ElementRange {
    places(plan, chunk, plan.layout()).aligned(plan.dtype().bytes())
}

/// The indices of the sources of a chunk.
fn indices_of(plan: &UnpoolPlan, chunk: ElementRange) -> ElementRange {
    places(plan, chunk, plan.space.layout).aligned(plan.index_type.bytes())
}

/// Whether the device has too few bindings for the last step to bind Indices and report beside X, Y and owners.
fn reports_apart(limits: &Limits) -> bool {
    limits.max_storage_buffers < 5
}

/// Builds the steps of the general path, each for a window of outputs and a chunk of sources. A kernel is made, and
/// linked, once for all its dispatches.
struct ClaimEmit<'a> {
    plan: &'a UnpoolPlan,
    limits: &'a Limits,
    activation_kind: ActivationKind,
    uniform: uniform::Unpool,
    digits: UnpoolDigits,
    sources: u64,
    outputs: u64,
}

impl ClaimEmit<'_> {
    /// Two steps, in which sources write their targets themselves.
    fn scattering(&self, windows: &[ElementRange], chunks: &[ElementRange]) -> Result<Vec<Dispatch>, PlanError> {
        let (dtype, index_type) = (self.plan.dtype(), self.plan.index_type);
        let key = |name, entry, digits| kernel(name, entry, digits).of(dtype).activated(self.activation_kind);
        let fill = key(format!("unpool fill {}", dtype.name()), "unpool_fill", UnpoolDigits::NONE).into();
        let name = format!("unpool scatter {} by {}", dtype.name(), index_type.name());
        let scatter = key(name, "unpool_scatter", self.digits).reads(Some(index_type)).into();
        let mut dispatches = Vec::new();
        for &window in windows.iter().filter(|window| window.count() > 0) {
            let uniform = uniform::Unpool { outputs: window.count() as u32, ..self.uniform };
            let operands = vec![self.y(window)];
            dispatches.push(self.dispatch(&fill, uniform, window.count(), operands, 1)?);
            for &chunk in chunks.iter().filter(|chunk| chunk.count() > 0) {
                let uniform = self.reading_x(window, chunk);
                let operands = vec![self.x(chunk), self.y(window), self.indices(chunk)];
                dispatches.push(self.dispatch(&scatter, uniform, chunk.count(), operands, self.loops())?);
            }
            PlanError::within("dispatches", dispatches.len() as u64, MAX_DISPATCHES)?;
        }
        Ok(dispatches)
    }

    /// The steps by which outputs have owners.
    fn by_owners(&self, windows: &[ElementRange], chunks: &[ElementRange]) -> Result<Vec<Dispatch>, PlanError> {
        let (dtype, index_type) = (self.plan.dtype(), self.plan.index_type);
        let reported = Some(index_type).filter(|_| !reports_apart(self.limits));
        let of = |what: &str, entry, digits| {
            kernel(format!("unpool {what} {}", index_type.name()), entry, digits).reads(Some(index_type)).into()
        };
        let claim = of("claim", "unpool_claim", self.digits);
        let report = of("report", "unpool_report", UnpoolDigits::NONE);
        // Outputs that an earlier dispatch has written are not fresh.
        let [again, afresh] = [0, 1].map(|fresh| {
            // The kernel converts ranks of sources to positions in X only.
            let digits = UnpoolDigits { target: 0, first_axes: 0, ..self.digits };
            let kernel = kernel(format!("unpool emit {}", dtype.name()), "unpool_emit", digits).of(dtype);
            kernel.activated(self.activation_kind).reads(reported).constants([("FRESH", fresh)]).into()
        });
        let mut dispatches = Vec::new();
        for (number, &window) in windows.iter().enumerate() {
            for &chunk in chunks.iter().filter(|chunk| chunk.count() > 0) {
                // Every window of outputs claims from the same indices; only the claims of the first window count the
                // bad ones.
                dispatches.push(self.claim(&claim, window, chunk, number == 0)?);
            }
            let turn = |turn: usize| [number == 0 && turn == 0, turn.saturating_add(1) == chunks.len()];
            for (at, &chunk) in chunks.iter().enumerate() {
                dispatches.push(self.emit(if at == 0 { &afresh } else { &again }, window, chunk, turn(at))?);
            }
            // The report is written by the last step, unless the device has too few bindings for that.
            for (at, &chunk) in chunks.iter().enumerate().filter(|_| number == 0 && reported.is_none()) {
                let [indices, report_range] = [self.indices(chunk), BoundRange::whole(Operand::Report)];
                let operands = vec![indices, BoundRange::whole(OWNERS), report_range];
                let uniform = with_turn(self.of(window, chunk), turn(at));
                dispatches.push(dispatch(&report, uniform, 1, operands, 1, self.limits)?);
            }
            PlanError::within("dispatches", dispatches.len() as u64, MAX_DISPATCHES)?;
        }
        Ok(dispatches)
    }

    fn claim(
        &self,
        key: &KernelKey,
        window: ElementRange,
        chunk: ElementRange,
        reports: bool,
    ) -> Result<Dispatch, PlanError> {
        let mut uniform = self.of(window, chunk);
        uniform.report &= u32::from(reports);
        let operands = vec![self.indices(chunk), BoundRange::whole(OWNERS)];
        self.dispatch(key, uniform, chunk.count(), operands, self.loops())
    }

    fn emit(
        &self,
        key: &KernelKey,
        window: ElementRange,
        chunk: ElementRange,
        turn: [bool; 2],
    ) -> Result<Dispatch, PlanError> {
        let mut operands = vec![self.x(chunk), self.y(window)];
        if reports_apart(self.limits) {
            operands.push(BoundRange::whole(OWNERS));
        } else {
            let report = BoundRange::whole(Operand::Report);
            operands.extend([self.indices(chunk), BoundRange::whole(OWNERS), report]);
        }
        let lanes = lanes(self.plan.dtype());
        let iterations = self.loops().saturating_add(1).saturating_mul(lanes);
        let words = window.count().div_ceil(lanes).max(1);
        self.dispatch(key, with_turn(self.reading_x(window, chunk), turn), words, operands, iterations)
    }

    fn x(&self, chunk: ElementRange) -> BoundRange {
        bound_range(Operand::X, x_of(self.plan, chunk), self.plan.dtype().bytes(), self.sources)
    }

    fn y(&self, window: ElementRange) -> BoundRange {
        bound_range(Operand::Y, window, self.plan.dtype().bytes(), self.outputs)
    }

    fn indices(&self, chunk: ElementRange) -> BoundRange {
        bound_range(Operand::Indices, indices_of(self.plan, chunk), self.plan.index_type.bytes(), self.sources)
    }

    fn reading_x(&self, window: ElementRange, chunk: ElementRange) -> uniform::Unpool {
        uniform::Unpool { x_first: x_of(self.plan, chunk).first as u32, ..self.of(window, chunk) }
    }

    fn of(&self, window: ElementRange, chunk: ElementRange) -> uniform::Unpool {
        let indices = indices_of(self.plan, chunk);
        uniform::Unpool {
            sources: chunk.count() as u32,
            outputs: window.count() as u32,
            source_first: chunk.first as u32,
            output_first: window.first as u32,
            index_first: indices.first as u32,
            index_count: indices.count() as u32,
            ..self.uniform
        }
    }

    /// Loop iterations per element.
    fn loops(&self) -> u64 {
        u64::from(self.digits.source).saturating_add(self.digits.target.into())
    }

    fn dispatch(
        &self,
        key: &KernelKey,
        uniform: uniform::Unpool,
        items: u64,
        operands: Vec<BoundRange>,
        of_an_item: u64,
    ) -> Result<Dispatch, PlanError> {
        dispatch(key, uniform, items, operands, of_an_item, self.limits)
    }
}

/// The uniform of a range of sources; `turn` says whether it is the first and the last one of its outputs.
fn with_turn(uniform: uniform::Unpool, turn: [bool; 2]) -> uniform::Unpool {
    let [begins, ends] = turn.map(u32::from);
    uniform::Unpool { begins, ends, ..uniform }
}

/// A dispatch with this many items, each of which takes some loop iterations.
fn dispatch(
    key: &KernelKey,
    mut uniform: uniform::Unpool,
    items: u64,
    operands: Vec<BoundRange>,
    of_an_item: u64,
    limits: &Limits,
) -> Result<Dispatch, PlanError> {
    let grid = grid(invocations(items), limits)?;
    let invocations = grid.into_iter().map(u64::from).fold(WORKGROUP, u64::saturating_mul);
    (uniform.grid_width, uniform.invocations) = (grid[0], invocations as u32);
    let turns = items.div_ceil(invocations.max(1)).next_multiple_of(PER_INVOCATION);
    Ok(Dispatch::new(key.clone(), &uniform, operands, grid, turns.saturating_mul(of_an_item.saturating_add(1))))
}

fn kernel(name: String, entry: &'static str, digits: UnpoolDigits) -> Kernel {
    let UnpoolDigits { source, target, first_axes } = digits;
    let consts = [("SOURCE_DIGITS", source), ("TARGET_DIGITS", target), ("FIRST_AXES", first_axes)];
    Kernel::new(name, entry).constants(consts)
}

/// The digits of a source's rank in (n, c, spatial) order. Their strides lead to the position in X, to the position in
/// the index tensor, and to the target's offset for n and c where the index convention does not count these.
fn source_digits(plan: &UnpoolPlan, y: &IndexStrides) -> Vec<Digit<3>> {
    let x = dense_strides(plan.layout(), plan.channels, &plan.x_extents);
    let index = dense_strides(plan.space.layout, plan.channels, &plan.x_extents);
    let [own_n, own_c] = own_strides(plan, y);
    let spatial = plan.x_extents.iter().zip(x.spatial.iter().zip(&index.spatial)).rev();
    let mut digits: Vec<Digit<3>> =
        spatial.map(|(&extent, (&x, &index))| Digit { radix: extent as u64, strides: [x, index, 0] }).collect();
    digits.push(Digit { radix: plan.channels as u64, strides: [x.c, index.c, own_c] });
    digits.push(Digit { radix: plan.batch as u64, strides: [x.n, index.n, own_n] });
    digits
}

/// The strides in Y of a source's own n and c: zero where indices count them.
pub(super) fn own_strides(plan: &UnpoolPlan, y: &IndexStrides) -> [i64; 2] {
    let flatten = plan.space.flatten;
    [if flatten.counts_batch() { 0 } else { y.n }, if flatten.counts_channels() { 0 } else { y.c }]
}

/// The stride in Y of a digit of an index.
pub(super) fn stride_of(coordinate: Coordinate, y: &IndexStrides) -> i64 {
    match coordinate {
        Coordinate::Axis(axis) => y.spatial[axis],
        Coordinate::Channel => y.c,
        Coordinate::Batch => y.n,
    }
}

/// The digits of an index, with their strides in Y.
fn target_digits(plan: &UnpoolPlan, y: &IndexStrides) -> Vec<Digit<1>> {
    let digit =
        |(coordinate, extent): (Coordinate, usize)| Digit { radix: extent as u64, strides: [stride_of(coordinate, y)] };
    index_coordinates(&plan.space).into_iter().map(digit).collect()
}
