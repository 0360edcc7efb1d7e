//! The gathering unpool in one pass. A stride cell is the block of Y of one stride; an invocation writes a few
//! neighbouring cells.

use wgpu_pooling_plan::internal::count;
use wgpu_pooling_plan::{Layout, OutsideWindow, PlanError, UnpoolPlan};

use super::digits::dense_strides;
use super::target::Target;
use super::tuning::unpool::{LINES_OF_SOFTWARE, MOST_PLACES, MOST_STRIDE_OF_OVERLAPS, QUADS_OF_SOFTWARE};
use super::view::{FORMULA, WindowFormula};
use crate::family::Family;
use crate::kernel::{ActivationKind, CellsKernel};
use crate::keys::{self, CellsKey, Places};
use crate::uniform::Divisor;
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
    pub places: Places,
    pub blocks: u64,
    pub split: [Divisor; 9],
    pub iterations: u64,
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
    fn of(plan: &UnpoolPlan, windows: &[WindowFormula; 3]) -> Result<CellAxes, PlanError> {
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
        let of = |unit: u64, value: fn(&WindowFormula) -> u32| {
            let single = |axis: usize| inputs[axis] == 1 && outputs[axis] == 1;
            [0, 1, 2].map(|axis| if single(axis) { unit } else { u64::from(value(&windows[axis])) })
        };
        let scatters = plan.outside_window == OutsideWindow::Scatter;
        // A window that lies wholly in the padding contains no element, not even the single output of an axis.
        let in_padding = |axis: &WindowFormula| axis.pad_begin.unsigned_abs() >= axis.kernel;
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
    fn split(&self, plan: &UnpoolPlan, key: &CellsKey) -> [u64; 9] {
        let channels = plan.channels as u64;
        [
            if key.places.inner { channels.div_ceil(QUAD) } else { 1 },
            self.cells[2].div_ceil(key.across),
            self.cells[1].div_ceil(key.lines),
            self.cells[0],
            if plan.layout() == Layout::Nhwc { 1 } else { channels },
            self.outputs[1],
            self.outputs[0],
            channels,
            count(&plan.x_extents),
        ]
    }

    /// Whether every window on an axis lies inside the cell of its source.
    fn apart(&self, axis: usize) -> bool {
        self.pad[axis] == 0 && self.kernel[axis] <= self.stride[axis]
    }

    /// Whether cells have elements beside their windows. Kernels write an element of a cell if its source's index names
    /// it, and do not check whether the window contains it.
    fn leave_gaps(&self) -> bool {
        (0..3).any(|axis| self.apart(axis) && self.kernel[axis] < self.stride[axis])
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

/// The kernel, and the cells of an invocation: quads across, and lines.
struct InvocationCells {
    kernel: CellsKernel,
    quads: u64,
    lines: u64,
}

impl InvocationCells {
    /// `run` elements of `bytes` bytes are contiguous in Y.
    fn of(axes: &CellAxes, inner: bool, run: u64, bytes: u64, limits: &Target) -> Result<InvocationCells, PlanError> {
        let words = run.saturating_mul(bytes).is_multiple_of(4);
        let apart = (0..3).all(|axis| axes.apart(axis));
        match (apart, words) {
            (true, true) => {
                // Several quads where that leaves no more lanes idle than one quad would.
                let even = axes.cells[2].div_ceil(QUAD).is_multiple_of(QUADS_OF_SOFTWARE);
                let by_device = if limits.software && !inner && even { QUADS_OF_SOFTWARE } else { 1 };
                let quads = limits.sizes.quads.filter(|_| !inner).unwrap_or(by_device).clamp(1, QUADS_OF_SOFTWARE);
                Ok(InvocationCells { kernel: CellsKernel::Apart, quads, lines: 1 })
            }
            // A word holds elements of at most two rows.
            // In wider cells most of what an invocation writes has no source.
            (true, false) if !inner && run >= QUAD && axes.stride[2] <= QUAD => {
                let quads = limits.sizes.quads.unwrap_or(quads_of_runs(axes.cells[2])).clamp(1, QUAD);
                Ok(InvocationCells { kernel: CellsKernel::Runs, quads, lines: 1 })
            }
            (false, true) if axes.apart(0) && axes.held_by_neighbours(1) && axes.held_by_neighbours(2) => {
                let by_device = if limits.software && axes.cells[1] >= 8 { LINES_OF_SOFTWARE } else { 1 };
                let lines = limits.sizes.cell_lines.unwrap_or(by_device).clamp(1, QUAD);
                Ok(InvocationCells { kernel: CellsKernel::Overlaps, quads: 1, lines })
            }
            (false, true) => Family::Gather.refuse("too many windows hold the same element"),
            (_, false) => Family::Gather.refuse("the last axis does not come out even with words"),
        }
    }
}

/// Quads of a run: the number that leaves the fewest lanes idle at the end of a line. On a tie the largest, since the
/// sources behind each run are read twice.
fn quads_of_runs(cells: u64) -> u64 {
    let in_all = |quads: &u64| cells.div_ceil(QUAD.saturating_mul(*quads)).saturating_mul(*quads);
    [4, 3, 2].into_iter().min_by_key(in_all).unwrap_or(1)
}

/// The part that loads and stores quads of elements of `bytes` bytes; `wide` if every run of elements is whole quads.
fn quad_part(bytes: u64, wide: bool) -> &'static str {
    match (bytes, wide) {
        (1, _) => "element/lanes8",
        (2, _) => "element/lanes16",
        (_, false) => "element/lanes_apart",
        (_, true) => "element/lanes_wide",
    }
}

/// The kernel for a plan. `windows` map a source to its window on three axes.
pub(super) fn cells(
    plan: &UnpoolPlan,
    windows: &[WindowFormula; 3],
    activation: ActivationKind,
    limits: &Target,
) -> Result<Cells, PlanError> {
    let axes = CellAxes::of(plan, windows)?;
    let bytes = plan.dtype().bytes() as u64;
    let channels = plan.channels as u64;
    let inner = plan.layout() == Layout::Nhwc && channels > 1;
    // The lengths of contiguous runs of elements in X and in Y.
    let (x_run, y_run) = if inner { (channels, channels) } else { (axes.inputs[2], axes.outputs[2]) };
    let InvocationCells { kernel, quads, lines } = InvocationCells::of(&axes, inner, y_run, bytes, limits)?;
    let across = if inner { 1 } else { quads.saturating_mul(QUAD) };
    let even = x_run.is_multiple_of(QUAD);
    let filled = axes.inputs == axes.cells;
    let same_place = plan.space.layout == plan.layout() || channels == 1 || count(&plan.x_extents) == 1;
    let strides = plan.space.strides();
    let positions = strides == dense_strides(plan.layout(), plan.channels, &plan.y_extents);
    let exact_lines = axes.exact(0) && axes.exact(1);
    let whole_cells = axes.exact(2) && axes.cells[2].is_multiple_of(across);
    let plain = kernel == CellsKernel::Apart && positions && same_place && filled && exact_lines && axes.stride[0] == 1;
    let parts =
        [quad_part(bytes, even && y_run.is_multiple_of(QUAD)), keys::names_part(plan.index_type, even && same_place)];
    let key = CellsKey {
        cells: kernel,
        dtype: plan.dtype(),
        index_type: plan.index_type,
        activation,
        outside: plan.outside_window,
        access: parts,
        kernel: axes.kernel,
        stride: axes.stride,
        pad: axes.pad,
        quads,
        across,
        lines,
        places: Places { inner, positions, same_place },
        plain,
        cells_filled: filled,
        lanes_filled: if inner { even } else { filled && axes.inputs[2].is_multiple_of(across) },
        exact_lines,
        exact_columns: axes.exact(2),
        clipped: axes.clipped(2),
        unit_columns: strides.spatial.last() == Some(&1),
        whole: if inner { even } else { whole_cells },
        x_even: x_run.saturating_mul(bytes).is_multiple_of(4),
        skips_first: plan.first_elements.is_some(),
    };
    let split = axes.split(plan, &key);
    let outer = split[4].saturating_mul(plan.batch as u64);
    let blocks = split[..4].iter().fold(outer, |blocks, &radix| blocks.saturating_mul(radix));
    let product = |of: &[u64; 3]| of.iter().fold(1, |product: u64, &factor| product.saturating_mul(factor));
    let of_cell = product(&axes.stride).saturating_add(product(&axes.kernel));
    let iterations = of_cell.saturating_mul(quads).saturating_mul(lines).saturating_mul(2);
    let (places, settle, key) = (key.places, keys::unpool_settle(&key), keys::unpool_cells(&key));
    Ok(Cells { key, settle, places, blocks, split: split.map(Divisor::new), iterations })
}
