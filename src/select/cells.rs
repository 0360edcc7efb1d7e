//! The gathering unpool in one pass. A stride cell is the block of Y of one stride; an invocation writes a few
//! neighbouring cells.

use wgpu_pooling_plan::internal::count;
use wgpu_pooling_plan::{Layout, OutsideWindow, PlanError, UnpoolPlan};

use super::digits::dense_strides;
use super::target::Target;
use super::thread_tile::by_fours;
use super::tuning::unpool::{LINES_OF_SOFTWARE, MOST_PLACES, MOST_STRIDE_OF_OVERLAPS, QUADS_OF_SOFTWARE};
use super::view::FORMULA;
use crate::family::Family;
use crate::kernel::{ActivationKind, Fact, Kernel};
use crate::uniform::{self, Divisor};
use crate::wgsl::key::KernelKey;

/// Sources that are loaded together.
const QUAD: u64 = 4;

// shaders/kernel/unpool_cells.wgsl has two quads at most.
const _: () = assert!(QUADS_OF_SOFTWARE <= 2);

/// The kernel that writes stride cells, with the number of invocations and the divisors that split an invocation's
/// number.
pub(super) struct Cells {
    pub key: KernelKey,
    /// The kernel that settles which source wins where indices lie outside their sources' windows.
    pub settle: KernelKey,
    pub places: [Fact; 3],
    pub blocks: u64,
    pub split: [Divisor; 9],
    pub iterations: u64,
}

/// How windows and rows lie, on which the kernel depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellsKernel {
    /// Windows lie apart, and rows are whole words.
    Apart,
    /// Windows lie apart, and rows begin and end within words.
    Runs,
    /// Windows overlap or begin in the padding.
    Overlaps,
}

/// The three axes of an unpool.
struct CellAxes {
    kernel: [u64; 3],
    stride: [u64; 3],
    pad: [u64; 3],
    inputs: [u64; 3],
    outputs: [u64; 3],
    /// Cells along each axis: the last ones may have no source, or lie beyond Y.
    cells: [u64; 3],
}

impl CellAxes {
    fn of(plan: &UnpoolPlan, windows: &[uniform::Axis; 3]) -> Result<CellAxes, PlanError> {
        if windows.iter().any(|axis| axis.kind != FORMULA || axis.dilation != 1 || axis.pad_begin < 0) {
            return Family::Gather.refuse("the windows are not given by a kernel and a stride alone");
        }
        if plan.space.extents != plan.y_extents {
            return Family::Gather.refuse("indices count other extents than the output's");
        }
        let skipped = 3usize.saturating_sub(plan.y_extents.len());
        let extents = |extents: &[usize]| {
            [0, 1, 2].map(|axis: usize| axis.checked_sub(skipped).map_or(1, |axis| extents[axis] as u64))
        };
        let (inputs, outputs) = (extents(&plan.x_extents), extents(&plan.y_extents));
        // On an axis with one source and one output, kernel and stride count as 1: there are no other cells to fill.
        let of = |unit: u64, value: fn(&uniform::Axis) -> u32| {
            let single = |axis: usize| inputs[axis] == 1 && outputs[axis] == 1;
            [0, 1, 2].map(|axis| if single(axis) { unit } else { u64::from(value(&windows[axis])) })
        };
        let scatters = plan.outside_window == OutsideWindow::Scatter;
        // A window that lies wholly in the padding contains no element, not even the single output of an axis.
        let in_padding = |axis: &uniform::Axis| axis.pad_begin.unsigned_abs() >= axis.kernel;
        if (!scatters || plan.first_elements.is_some()) && windows.iter().any(in_padding) {
            return Family::Gather.refuse("a window lies wholly in the padding");
        }
        let (kernel, stride) = (of(1, |axis| axis.kernel), of(1, |axis| axis.stride));
        let pad = of(0, |axis| axis.pad_begin.unsigned_abs());
        if stride.iter().fold(1, |product: u64, &stride| product.saturating_mul(stride)) > MOST_PLACES {
            return Family::Gather.refuse("the cells are too large");
        }
        let cells = [0, 1, 2].map(|axis| outputs[axis].div_ceil(stride[axis]).max(inputs[axis]));
        let axes = CellAxes { kernel, stride, pad, inputs, outputs, cells };
        if !scatters && axes.leave_gaps() {
            return Family::Gather.refuse("windows leave gaps, in which no index may lie");
        }
        Ok(axes)
    }

    /// The radices by which an invocation's number is split.
    fn split(&self, plan: &UnpoolPlan, inner: bool, across: u64, lines: u64) -> [u64; 9] {
        let channels = plan.channels as u64;
        [
            if inner { channels.div_ceil(QUAD) } else { 1 },
            self.cells[2].div_ceil(across),
            self.cells[1].div_ceil(lines),
            self.cells[0],
            if plan.layout() == Layout::Nhwc { 1 } else { channels },
            self.outputs[1],
            self.outputs[0],
            channels,
            count(&plan.x_extents),
        ]
    }

    /// Whether every window on an axis lies inside the cell of its source.
    fn is_disjoint(&self, axis: usize) -> bool {
        self.pad[axis] == 0 && self.kernel[axis] <= self.stride[axis]
    }

    /// Whether cells have elements beside their windows. Kernels write an element of a cell if its source's index names
    /// it, and do not check whether the window contains it.
    fn leave_gaps(&self) -> bool {
        (0..3).any(|axis| self.is_disjoint(axis) && self.kernel[axis] < self.stride[axis])
    }

    /// Whether the elements of a cell on an axis are covered only by the windows of its own source and of the two
    /// neighbours.
    fn held_by_neighbours(&self, axis: usize) -> bool {
        let (pad, stride) = (self.pad[axis], self.stride[axis]);
        // The window two cells before does not cover the cell's first element, and the window two cells after does not
        // cover its last element.
        pad.saturating_add(stride.saturating_mul(2)) >= self.kernel[axis]
            && pad < stride.saturating_add(1)
            && stride <= MOST_STRIDE_OF_OVERLAPS
    }

    /// Whether the extent of Y is a whole number of cells on this axis.
    fn exact(&self, axis: usize) -> bool {
        self.cells[axis].saturating_mul(self.stride[axis]) == self.outputs[axis]
    }

    /// Whether a window on an axis reaches beyond Y.
    fn clipped(&self, axis: usize) -> bool {
        let last = self.inputs[axis].saturating_sub(1).saturating_mul(self.stride[axis]);
        self.pad[axis] > 0 || last.saturating_add(self.kernel[axis]) > self.outputs[axis]
    }
}

/// The kernel, and the cells of an invocation: quads across, columns across, and lines.
struct InvocationCells {
    kernel: CellsKernel,
    /// Whether channels lie inside the last axis.
    inner: bool,
    /// The lengths of contiguous runs of elements in X and in Y.
    runs: [u64; 2],
    quads: u64,
    across: u64,
    lines: u64,
}

impl InvocationCells {
    fn of(plan: &UnpoolPlan, axes: &CellAxes, limits: &Target) -> Result<InvocationCells, PlanError> {
        let channels = plan.channels as u64;
        let inner = plan.layout() == Layout::Nhwc && channels > 1;
        let runs = if inner { [channels; 2] } else { [axes.inputs[2], axes.outputs[2]] };
        let run = runs[1];
        let words = run.saturating_mul(plan.dtype().bytes() as u64).is_multiple_of(4);
        let disjoint = (0..3).all(|axis| axes.is_disjoint(axis));
        let (kernel, quads, lines) = match (disjoint, words) {
            (true, true) => {
                // Several quads where that leaves no more lanes idle than one quad would.
                let even = axes.cells[2].div_ceil(QUAD).is_multiple_of(QUADS_OF_SOFTWARE);
                let by_device = if limits.software && !inner && even { QUADS_OF_SOFTWARE } else { 1 };
                let quads = limits.sizes.quads.filter(|_| !inner).unwrap_or(by_device).clamp(1, QUADS_OF_SOFTWARE);
                (CellsKernel::Apart, quads, 1)
            }
            // A word holds elements of at most two rows.
            // In wider cells most of what an invocation writes has no source.
            (true, false) if !inner && run >= QUAD && axes.stride[2] <= QUAD => {
                let quads = limits.sizes.quads.unwrap_or(quads_of_runs(axes.cells[2])).clamp(1, QUAD);
                (CellsKernel::Runs, quads, 1)
            }
            (false, true) if axes.is_disjoint(0) && axes.held_by_neighbours(1) && axes.held_by_neighbours(2) => {
                let by_device = if limits.software && axes.cells[1] >= 8 { LINES_OF_SOFTWARE } else { 1 };
                let lines = limits.sizes.cell_lines.unwrap_or(by_device).clamp(1, QUAD);
                (CellsKernel::Overlaps, 1, lines)
            }
            (false, true) => return Family::Gather.refuse("too many windows hold the same element"),
            (_, false) => return Family::Gather.refuse("the last axis does not come out even with words"),
        };
        let across = if inner { 1 } else { quads.saturating_mul(QUAD) };
        Ok(InvocationCells { kernel, inner, runs, quads, across, lines })
    }
}

/// Quads of a run: the number that leaves the fewest lanes idle at the end of a line. On a tie the largest, since the
/// sources behind each run are read twice.
fn quads_of_runs(cells: u64) -> u64 {
    let in_all = |quads: &u64| cells.div_ceil(QUAD.saturating_mul(*quads)).saturating_mul(*quads);
    [4, 3, 2].into_iter().min_by_key(in_all).unwrap_or(1)
}

/// How the elements of X and Y and the indices lie in memory, as constants: whether channels lie inside the last axis,
/// an index is a position in Y, and indices are stored in the order of X.
fn places(plan: &UnpoolPlan, inner: bool) -> [Fact; 3] {
    let same = plan.space.layout == plan.layout() || plan.channels == 1 || count(&plan.x_extents) == 1;
    let positions = plan.space.strides() == dense_strides(plan.layout(), plan.channels, &plan.y_extents);
    [("INNER", inner.into()), ("POSITIONS", positions.into()), ("SAME_PLACE", same.into())]
}

/// The constants of both kernels.
fn consts(plan: &UnpoolPlan, axes: &CellAxes, cells: &InvocationCells, places: [Fact; 3]) -> Vec<Fact> {
    let InvocationCells { inner, runs: [x_run, _], quads, across, lines, .. } = *cells;
    let even = x_run.is_multiple_of(QUAD);
    let filled = axes.inputs == axes.cells;
    let (exact_lines, exact_columns) = (axes.exact(0) && axes.exact(1), axes.exact(2));
    let whole = if inner { even } else { exact_columns && axes.cells[2].is_multiple_of(across) };
    // Every cell has one source, whose index is a position in Y, and lies in Y but for its last columns.
    let plain = cells.kernel == CellsKernel::Apart && places[1].1 == 1 && places[2].1 == 1 && filled && exact_lines;
    let consts = [
        ("KERNEL_0", axes.kernel[0]),
        ("KERNEL_1", axes.kernel[1]),
        ("KERNEL_2", axes.kernel[2]),
        ("STRIDE_0", axes.stride[0]),
        ("STRIDE_1", axes.stride[1]),
        ("STRIDE_2", axes.stride[2]),
        ("PAD_1", axes.pad[1]),
        ("PAD_2", axes.pad[2]),
        ("QUADS", quads),
        ("ACROSS", across),
        ("LINES", lines),
        ("PLAIN", (plain && axes.stride[0] == 1).into()),
        // Every cell has a source, and every lane of an invocation has one.
        ("CELLS_FILLED", filled.into()),
        ("LANES_FILLED", if inner { even } else { filled && axes.inputs[2].is_multiple_of(across) }.into()),
        // Y is whole cells along the outer axes, and along the last axis.
        ("EXACT_LINES", exact_lines.into()),
        ("EXACT_COLUMNS", exact_columns.into()),
        ("CLIPPED", axes.clipped(2).into()),
        // The indices of neighbouring columns differ by one.
        ("UNIT_COLUMNS", (plan.space.strides().spatial.last() == Some(&1)).into()),
        // Invocations write whole quads of Y, and rows of X are whole words.
        ("WHOLE", whole.into()),
        ("X_EVEN", x_run.saturating_mul(plan.dtype().bytes() as u64).is_multiple_of(4).into()),
        // The index of a plane's first element is skipped outside its own window.
        ("SKIPS_FIRST", plan.first_elements.is_some().into()),
    ];
    consts.map(|(name, number)| (name, number as u32)).into_iter().chain(places).collect()
}

/// A kernel with the uniform of gathering unpools.
pub(super) fn kernel(name: String, entry: &'static str) -> Kernel {
    Kernel::new(name, entry).with([("GATHERS", 1)])
}

/// What a kernel's name says of indices outside their windows.
pub(super) fn others(rule: OutsideWindow) -> &'static str {
    match rule {
        OutsideWindow::Scatter => "",
        OutsideWindow::Skip => ", others skipped",
        _ => ", others reported",
    }
}

/// The kernel for a plan. `windows` map a source to its window on three axes.
pub(super) fn cells(
    plan: &UnpoolPlan,
    windows: &[uniform::Axis; 3],
    activation: ActivationKind,
    limits: &Target,
) -> Result<Cells, PlanError> {
    let axes = CellAxes::of(plan, windows)?;
    let cells = InvocationCells::of(plan, &axes, limits)?;
    let places = places(plan, cells.inner);
    let consts = consts(plan, &axes, &cells, places);
    let InvocationCells { runs: [x_run, y_run], quads, across, lines, .. } = cells;
    // Whether every run of elements, and of indices, is whole quads.
    let even = x_run.is_multiple_of(QUAD);
    let (fours, indices) = (even && y_run.is_multiple_of(QUAD) && plan.dtype().bytes() >= 4, even && places[2].1 == 1);
    let (of, entry) = match cells.kernel {
        CellsKernel::Apart => ("cells", "unpool_cells"),
        CellsKernel::Runs => ("runs of cells", "unpool_runs"),
        CellsKernel::Overlaps => ("overlapping cells", "unpool_overlaps"),
    };
    let [depth, height, width] = axes.kernel;
    let what = format!("{} by {}, {depth}x{height}x{width}", plan.dtype().name(), plan.index_type.name());
    let linked = |name, entry| {
        let kernel = kernel(name, entry).of(plan.dtype()).activated(activation);
        kernel.reads(Some(plan.index_type)).constants(consts.clone())
    };
    let settle = linked(format!("unpool settle {what}"), "unpool_settle").into();
    let key = linked(format!("unpool {of} {what}{}", others(plan.outside_window)), entry)
        .with(by_fours(plan.dtype(), fours))
        .with([("PUT_FOURS", fours.into()), ("WIDE_INDICES", indices.into()), (plan.outside_window.name(), 1)])
        .into();
    let split = axes.split(plan, cells.inner, across, lines);
    let outer = split[4].saturating_mul(plan.batch as u64);
    let blocks = split[..4].iter().fold(outer, |blocks, &radix| blocks.saturating_mul(radix));
    let product = |of: &[u64; 3]| of.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor));
    let of_cell = product(&axes.stride).saturating_add(product(&axes.kernel));
    let iterations = of_cell.saturating_mul(quads).saturating_mul(lines).saturating_mul(2);
    Ok(Cells { key, settle, places, blocks, split: split.map(Divisor::new), iterations })
}
