//! Constructors of the kernels of unpools.

use wgpu_pooling_plan::{DType, IndexType, OutsideWindow};

use super::by_fours;
use crate::kernel::{ActivationKind, CellsKernel, Kernel, UnpoolDigits};
use crate::wgsl::key::KernelKey;

/// Clears the owner table of an unpool and its report.
pub(crate) fn unpool_clear() -> KernelKey {
    unpool("unpool clear".to_owned(), "kernel/unpool_clear", UnpoolDigits::NONE).into()
}

/// Lets sources claim their targets.
pub(crate) fn unpool_claim(index_type: IndexType, digits: UnpoolDigits) -> KernelKey {
    let kernel = unpool(format!("unpool claim {}", index_type.name()), "kernel/unpool_claim", digits);
    Kernel { reads: Some(index_type), ..kernel }.into()
}

/// Writes output words from their owners, and reports the value of the first bad index. `index_type` is `None` where
/// the device has too few storage buffers and `unpool_report` looks up that value instead. `fresh` is false for outputs
/// that an earlier dispatch has already written.
pub(crate) fn unpool_emit(
    dtype: DType,
    index_type: Option<IndexType>,
    activation: ActivationKind,
    digits: UnpoolDigits,
    fresh: bool,
) -> KernelKey {
    // The kernel converts ranks of sources to positions in X only.
    let digits = UnpoolDigits { target: 0, ..digits };
    let mut kernel = unpool(format!("unpool emit {}", dtype.name()), "kernel/unpool_emit", digits);
    kernel.consts.push(("FRESH", fresh.into()));
    kernel.variants.push("core/owners_read");
    kernel.variants.push(match index_type {
        Some(_) => "core/reported",
        None => "core/reported_apart",
    });
    Kernel { element: Some(dtype), activation: Some(activation), reads: index_type, ..kernel }.into()
}

/// Looks up the first bad index of an unpool.
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
    let consts = vec![("SOURCE_DIGITS", digits.source), ("TARGET_DIGITS", digits.target)];
    let mut variants = vec!["core/unpool"];
    if entry != "kernel/unpool_emit" {
        variants.push("core/owners");
    }
    Kernel { variants, consts, ..Kernel::new(name, entry) }
}

/// Checks that every index lies in its source's window.
pub(crate) fn unpool_check(index_type: IndexType, outside: OutsideWindow) -> KernelKey {
    let (part, others) = outside_window(outside);
    let mut kernel = gather(format!("unpool check {}{others}", index_type.name()), "kernel/unpool_check");
    kernel.variants.push(part);
    Kernel { reads: Some(index_type), ..kernel }.into()
}

/// Writes output words from the sources of their covering windows; with `own_windows`, from none whose index lies
/// outside its own window.
pub(crate) fn unpool_gather(
    dtype: DType,
    index_type: IndexType,
    activation: ActivationKind,
    own_windows: bool,
) -> KernelKey {
    let of = if own_windows { " in own windows" } else { "" };
    let mut kernel = gather(format!("unpool gather {}{of}", dtype.name()), "kernel/unpool_gather");
    kernel.consts.push(("OWN_WINDOWS", own_windows.into()));
    Kernel { element: Some(dtype), activation: Some(activation), reads: Some(index_type), ..kernel }.into()
}

/// Writes the stride cells of a few neighbouring sources. `access` names the parts that load and store four elements,
/// and that load four indices.
pub(crate) fn unpool_cells(
    cells: CellsKernel,
    dtype: DType,
    index_type: IndexType,
    activation: ActivationKind,
    access: [&'static str; 2],
    outside: OutsideWindow,
    consts: &[(&'static str, u64)],
) -> KernelKey {
    let (of, entry) = match cells {
        CellsKernel::Apart => ("cells", "kernel/unpool_cells"),
        CellsKernel::Runs => ("runs of cells", "kernel/unpool_runs"),
        CellsKernel::Overlaps => ("overlapping cells", "kernel/unpool_overlaps"),
    };
    let window = |axis| {
        let of = |name: &str| consts.iter().find(|(found, _)| found.starts_with(name) && found.ends_with(axis));
        of("KERNEL_").map_or(0, |(_, kernel)| *kernel)
    };
    let [depth, height, width] = ["0", "1", "2"].map(window);
    let (dtype_name, (part, others)) = (dtype.name(), outside_window(outside));
    let name = format!("unpool {of} {dtype_name} by {}, {depth}x{height}x{width}{others}", index_type.name());
    let mut kernel = gather(name, entry);
    kernel.variants.extend(access);
    if access.contains(&"element/lanes_wide") {
        kernel.variants.extend(by_fours(dtype));
    }
    kernel.variants.push(part);
    let consts = consts.iter().map(|&(name, value)| (name, value as u32)).collect();
    Kernel { element: Some(dtype), activation: Some(activation), consts, ..kernel }.into()
}

/// The part that tells of indices outside their windows, and what a kernel's name says of it.
fn outside_window(rule: OutsideWindow) -> (&'static str, &'static str) {
    match rule {
        OutsideWindow::Scatter => ("core/outside_flagged", ""),
        OutsideWindow::Skip => ("core/outside_skipped", ", others skipped"),
        // `OutsideWindow::Error`; what is not written is told of, whatever the rule.
        _ => ("core/outside_reported", ", others reported"),
    }
}

/// Writes the indirect grids of the general path.
pub(crate) fn unpool_indirect() -> KernelKey {
    gather("unpool indirect".to_owned(), "kernel/unpool_indirect").into()
}

fn gather(name: String, entry: &'static str) -> Kernel {
    Kernel { variants: vec!["core/gather"], ..Kernel::new(name, entry) }
}
