//! Constructors of the kernels of unpools.

use wgpu_pooling_plan::{DType, IndexType, OutsideWindow};

use super::thread_tile::by_fours;
use crate::kernel::{ActivationKind, CellsKernel, Kernel, UnpoolDigits};
use crate::wgsl::key::KernelKey;

/// Clears the scratch memory of an unpool.
pub(crate) fn unpool_clear() -> KernelKey {
    unpool("unpool clear".to_owned(), "kernel/unpool_clear", UnpoolDigits::NONE).into()
}

/// Lets sources claim their targets.
pub(crate) fn unpool_claim(index_type: IndexType, digits: UnpoolDigits) -> KernelKey {
    let kernel = unpool(format!("unpool claim {}", index_type.name()), "kernel/unpool_claim", digits);
    Kernel { reads: Some(index_type), ..kernel }.into()
}

/// Writes output words from their owners, and the report. `index_type` is `None` where the device has too few storage
/// buffers and `unpool_report` writes the report instead. `fresh` is false for outputs that an earlier dispatch has
/// already written.
pub(crate) fn unpool_emit(
    dtype: DType,
    index_type: Option<IndexType>,
    activation: ActivationKind,
    digits: UnpoolDigits,
    fresh: bool,
) -> KernelKey {
    // The kernel converts ranks of sources to positions in X only.
    let digits = UnpoolDigits { target: 0, first_axes: 0, ..digits };
    let mut kernel = unpool(format!("unpool emit {}", dtype.name()), "kernel/unpool_emit", digits);
    kernel.consts.push(("FRESH", fresh.into()));
    kernel.variants.push(match index_type {
        Some(_) => "core/reported",
        None => "core/reported_apart",
    });
    Kernel { element: Some(dtype), activation: Some(activation), reads: index_type, ..kernel }.into()
}

/// Writes the report of an unpool.
pub(crate) fn unpool_report(index_type: IndexType) -> KernelKey {
    let name = format!("unpool report {}", index_type.name());
    let mut kernel = unpool(name, "kernel/unpool_report", UnpoolDigits::NONE);
    kernel.variants.push("core/reported");
    Kernel { reads: Some(index_type), ..kernel }.into()
}

/// Writes the activation of zero to every output of 32 bits.
pub(crate) fn unpool_fill(dtype: DType, activation: ActivationKind) -> KernelKey {
    let kernel = unpool(format!("unpool fill {}", dtype.name()), "kernel/unpool_fill", UnpoolDigits::NONE);
    Kernel { element: Some(dtype), activation: Some(activation), ..kernel }.into()
}

/// Lets sources of 32 bits write their values to their targets, in any order.
pub(crate) fn unpool_scatter(
    dtype: DType,
    index_type: IndexType,
    activation: ActivationKind,
    digits: UnpoolDigits,
) -> KernelKey {
    let name = format!("unpool scatter {} by {}", dtype.name(), index_type.name());
    let kernel = unpool(name, "kernel/unpool_scatter", digits);
    Kernel { element: Some(dtype), activation: Some(activation), reads: Some(index_type), ..kernel }.into()
}

fn unpool(name: String, entry: &'static str, digits: UnpoolDigits) -> Kernel {
    let mut consts = vec![("SOURCE_DIGITS", digits.source), ("TARGET_DIGITS", digits.target)];
    consts.push(("FIRST_AXES", digits.first_axes));
    Kernel { variants: vec!["core/unpool"], consts, ..Kernel::new(name, entry) }
}

/// The part that loads four indices; `wide` if every run of indices is whole quads.
pub(crate) fn names_part(index_type: IndexType, wide: bool) -> &'static str {
    match (index_type, wide) {
        (IndexType::I32, false) => "index/names_i32",
        (IndexType::I32, true) => "index/names_i32_wide",
        (IndexType::I64, false) => "index/names_i64",
        (IndexType::I64, true) => "index/names_i64_wide",
    }
}

/// Checks that every index lies in its source's window. `places` says how sources claim elements, where they do.
pub(crate) fn unpool_check(
    index_type: IndexType,
    outside: OutsideWindow,
    places: &Places,
    skips_first: bool,
) -> KernelKey {
    let (part, others) = outside_window(outside);
    let mut kernel = gather(format!("unpool check {}{others}", index_type.name()), "kernel/unpool_check");
    kernel.variants.extend([part, names_part(index_type, false)]);
    kernel.consts.push(("SKIPS_FIRST", skips_first.into()));
    if outside == OutsideWindow::Scatter {
        kernel.consts.extend(places.consts());
    }
    kernel.into()
}

/// Writes output words from the sources of their covering windows whose indices lie in these windows.
pub(crate) fn unpool_gather(dtype: DType, index_type: IndexType, activation: ActivationKind) -> KernelKey {
    let kernel = gather(format!("unpool gather {}", dtype.name()), "kernel/unpool_gather");
    Kernel { element: Some(dtype), activation: Some(activation), reads: Some(index_type), ..kernel }.into()
}

/// How the elements of X and Y and the indices lie in memory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Places {
    /// Whether channels lie inside the last axis.
    pub inner: bool,
    /// Whether an index is a position in Y.
    pub positions: bool,
    /// Whether indices are stored in the order of X.
    pub same_place: bool,
}

impl Places {
    fn consts(self) -> [(&'static str, u32); 3] {
        [("INNER", self.inner.into()), ("POSITIONS", self.positions.into()), ("SAME_PLACE", self.same_place.into())]
    }
}

/// The properties that determine a kernel that writes stride cells.
pub(crate) struct CellsKey {
    pub cells: CellsKernel,
    pub dtype: DType,
    pub index_type: IndexType,
    pub activation: ActivationKind,
    pub outside: OutsideWindow,
    /// The parts that load and store four elements, and that load four indices.
    pub access: [&'static str; 2],
    /// The windows of sources.
    pub kernel: [u64; 3],
    pub stride: [u64; 3],
    pub pad: [u64; 3],
    /// The cells of an invocation: quads across, columns across, and lines.
    pub quads: u64,
    pub across: u64,
    pub lines: u64,
    pub places: Places,
    /// Whether every cell has one source, whose index is a position in Y, and lies in Y but for its last columns.
    pub plain: bool,
    /// Whether every cell has a source, and every lane of an invocation has one.
    pub cells_filled: bool,
    pub lanes_filled: bool,
    /// Whether Y is whole cells along the outer axes, and along the last axis.
    pub exact_lines: bool,
    pub exact_columns: bool,
    /// Whether a window reaches beyond Y on the last axis.
    pub clipped: bool,
    /// Whether the indices of neighbouring columns differ by one.
    pub unit_columns: bool,
    /// Whether invocations write whole quads of Y.
    pub whole: bool,
    /// Whether rows of X are whole words.
    pub x_even: bool,
    /// Whether the index of a plane's first element is skipped outside its own window.
    pub skips_first: bool,
}

impl CellsKey {
    fn consts(&self) -> Vec<(&'static str, u32)> {
        let numbers = [
            ("KERNEL_0", self.kernel[0]),
            ("KERNEL_1", self.kernel[1]),
            ("KERNEL_2", self.kernel[2]),
            ("STRIDE_0", self.stride[0]),
            ("STRIDE_1", self.stride[1]),
            ("STRIDE_2", self.stride[2]),
            ("PAD_1", self.pad[1]),
            ("PAD_2", self.pad[2]),
            ("QUADS", self.quads),
            ("ACROSS", self.across),
            ("LINES", self.lines),
            ("PLAIN", self.plain.into()),
            ("CELLS_FILLED", self.cells_filled.into()),
            ("LANES_FILLED", self.lanes_filled.into()),
            ("EXACT_LINES", self.exact_lines.into()),
            ("EXACT_COLUMNS", self.exact_columns.into()),
            ("CLIPPED", self.clipped.into()),
            ("UNIT_COLUMNS", self.unit_columns.into()),
            ("WHOLE", self.whole.into()),
            ("X_EVEN", self.x_even.into()),
            ("SKIPS_FIRST", self.skips_first.into()),
        ];
        numbers.map(|(name, value)| (name, value as u32)).into_iter().chain(self.places.consts()).collect()
    }
}

/// Writes the stride cells of a few neighbouring sources.
pub(crate) fn unpool_cells(key: &CellsKey) -> KernelKey {
    let (of, entry) = match key.cells {
        CellsKernel::Apart => ("cells", "kernel/unpool_cells"),
        CellsKernel::Runs => ("runs of cells", "kernel/unpool_runs"),
        CellsKernel::Overlaps => ("overlapping cells", "kernel/unpool_overlaps"),
    };
    let [depth, height, width] = key.kernel;
    let (dtype, index_type, (part, others)) = (key.dtype.name(), key.index_type.name(), outside_window(key.outside));
    let name = format!("unpool {of} {dtype} by {index_type}, {depth}x{height}x{width}{others}");
    let mut kernel = gather(name, entry);
    kernel.variants.extend(key.access);
    if key.access.contains(&"element/lanes_wide") {
        kernel.variants.extend(by_fours(key.dtype));
    }
    kernel.variants.push(part);
    Kernel { element: Some(key.dtype), activation: Some(key.activation), consts: key.consts(), ..kernel }.into()
}

/// Settles which of several sources gives an element its value, where indices lie outside their sources' windows.
pub(crate) fn unpool_settle(key: &CellsKey) -> KernelKey {
    let ([depth, height, width], [dtype, index_type]) = (key.kernel, [key.dtype.name(), key.index_type.name()]);
    let name = format!("unpool settle {dtype} by {index_type}, {depth}x{height}x{width}");
    let mut kernel = Kernel::new(name, "kernel/unpool_settle");
    kernel.variants = vec!["core/gather", "core/reported"];
    kernel.consts = key.consts();
    let (element, activation, reads) = (Some(key.dtype), Some(key.activation), Some(key.index_type));
    Kernel { element, activation, reads, ..kernel }.into()
}

/// The part that tells of indices outside their windows, and what a kernel's name says of it.
fn outside_window(rule: OutsideWindow) -> (&'static str, &'static str) {
    match rule {
        OutsideWindow::Scatter => ("core/outside_claimed", ""),
        OutsideWindow::Skip => ("core/outside_skipped", ", others skipped"),
        // `OutsideWindow::Error`; what is not written is told of, whatever the rule.
        _ => ("core/outside_reported", ", others reported"),
    }
}

fn gather(name: String, entry: &'static str) -> Kernel {
    Kernel { variants: vec!["core/gather"], ..Kernel::new(name, entry) }
}
