//! The kernels of unpools and of index conversions by name.

use crate::element::{DType, IndexType};
use crate::kernel::{ActivationKind, CellsKernel, Kernel, UnpoolDigits};
use crate::wgsl::key::KernelKey;

/// Clears the owners of an unpool, and its report.
pub(crate) fn unpool_clear() -> KernelKey {
    unpool("unpool clear".to_owned(), "kernel/unpool_clear.wgsl", UnpoolDigits::NONE).into()
}

/// Sources claim their targets.
pub(crate) fn unpool_claim(index_type: IndexType, digits: UnpoolDigits) -> KernelKey {
    let kernel = unpool(format!("unpool claim {}", index_type.name()), "kernel/unpool_claim.wgsl", digits);
    Kernel { reads: Some(index_type), ..kernel }.into()
}

/// Output words are written from their owners. The type of the indices, the first bad one of which is reported with its value,
/// is `None` where that is left to `unpool_report`, since the device has too few storage buffers. Outputs that another dispatch
/// has dealt with before are not `fresh`.
pub(crate) fn unpool_emit(
    dtype: DType,
    index_type: Option<IndexType>,
    activation: ActivationKind,
    digits: UnpoolDigits,
    fresh: bool,
) -> KernelKey {
    // It goes from sources to X alone.
    let digits = UnpoolDigits { target: 0, ..digits };
    let mut kernel = unpool(format!("unpool emit {}", dtype.name()), "kernel/unpool_emit.wgsl", digits);
    kernel.consts.push(("FRESH", fresh.into()));
    kernel.variants.push("core/owners_read.wgsl");
    kernel.variants.push(match index_type {
        Some(_) => "core/reported.wgsl",
        None => "core/reported_apart.wgsl",
    });
    Kernel { element: Some(dtype), activation: Some(activation), reads: index_type, ..kernel }.into()
}

/// The first bad index of an unpool is looked up.
pub(crate) fn unpool_report(index_type: IndexType) -> KernelKey {
    let name = format!("unpool report {}", index_type.name());
    let mut kernel = unpool(name, "kernel/unpool_report.wgsl", UnpoolDigits::NONE);
    kernel.variants.push("core/reported.wgsl");
    Kernel { reads: Some(index_type), ..kernel }.into()
}

fn unpool(name: String, entry: &'static str, digits: UnpoolDigits) -> Kernel {
    let consts = vec![("SOURCE_DIGITS", digits.source), ("TARGET_DIGITS", digits.target)];
    let mut variants = vec!["core/unpool.wgsl"];
    if entry != "kernel/unpool_emit.wgsl" {
        variants.push("core/owners.wgsl");
    }
    Kernel { variants, consts, ..Kernel::new(name, entry) }
}

/// Indices outside their own windows are noticed.
pub(crate) fn unpool_check(index_type: IndexType) -> KernelKey {
    let kernel = stream(format!("unpool check {}", index_type.name()), "kernel/unpool_check.wgsl");
    Kernel { reads: Some(index_type), ..kernel }.into()
}

/// Output words are written from the sources whose windows hold them.
pub(crate) fn unpool_gather(dtype: DType, index_type: IndexType, activation: ActivationKind) -> KernelKey {
    let kernel = stream(format!("unpool gather {}", dtype.name()), "kernel/unpool_gather.wgsl");
    Kernel { element: Some(dtype), activation: Some(activation), reads: Some(index_type), ..kernel }.into()
}

/// The cells of a few neighbouring sources are written. `access` are the parts that read and write four elements, and that read four
/// indices.
pub(crate) fn unpool_cells(
    cells: CellsKernel,
    dtype: DType,
    index_type: IndexType,
    activation: ActivationKind,
    access: [&'static str; 2],
    consts: &[(&'static str, u64)],
) -> KernelKey {
    let (of, entry) = match cells {
        CellsKernel::Apart => ("cells", "kernel/unpool_cells.wgsl"),
        CellsKernel::Runs => ("runs of cells", "kernel/unpool_runs.wgsl"),
        CellsKernel::Overlaps => ("overlapping cells", "kernel/unpool_overlaps.wgsl"),
    };
    let window = |axis| {
        let of = |name: &str| consts.iter().find(|(found, _)| found.starts_with(name) && found.ends_with(axis));
        of("KERNEL_").map_or(0, |(_, kernel)| *kernel)
    };
    let [depth, height, width] = ["0", "1", "2"].map(window);
    let name = format!("unpool {of} {} by {}, {depth}x{height}x{width}", dtype.name(), index_type.name());
    let mut kernel = stream(name, entry);
    kernel.variants.extend(access);
    let consts = consts.iter().map(|&(name, value)| (name, value as u32)).collect();
    Kernel { element: Some(dtype), activation: Some(activation), consts, ..kernel }.into()
}

/// The grids of the general path are written.
pub(crate) fn unpool_decide() -> KernelKey {
    stream("unpool decide".to_owned(), "kernel/unpool_decide.wgsl").into()
}

fn stream(name: String, entry: &'static str) -> Kernel {
    Kernel { variants: vec!["core/stream.wgsl"], ..Kernel::new(name, entry) }
}

/// The report of a conversion is cleared.
pub(crate) fn convert_clear() -> KernelKey {
    Kernel::new("convert clear".to_owned(), "kernel/convert_clear.wgsl").into()
}

/// Indices are converted.
pub(crate) fn convert_indices(from_type: IndexType, to_type: IndexType) -> KernelKey {
    let name = format!("convert {} to {}", from_type.name(), to_type.name());
    let kernel = Kernel::new(name, "kernel/convert_indices.wgsl");
    Kernel { reads: Some(from_type), writes: Some(to_type), ..kernel }.into()
}

/// The first bad index of a conversion is looked up.
pub(crate) fn convert_report(from_type: IndexType) -> KernelKey {
    let kernel = Kernel::new(format!("convert report {}", from_type.name()), "kernel/convert_report.wgsl");
    Kernel { reads: Some(from_type), ..kernel }.into()
}
