//! Constructors of kernels: each chooses the part with the entry point, the variants of other parts, and the constants.

mod sliding;
mod strip;
mod thread_tile;
mod unpool;

use wgpu_pooling_plan::internal::{Reduction, count};
use wgpu_pooling_plan::{DType, PoolPlan};

pub(crate) use sliding::{Begins, FirstElements, SlidingKey, SlidingRow, SlidingWindow, sliding};
pub(crate) use strip::{StripKey, has_room, strip};
pub(crate) use thread_tile::{Span, ThreadTile, ThreadTileKey, thread_tile};
pub(crate) use unpool::{
    CellsKey, Places, names_part, unpool_cells, unpool_check, unpool_claim, unpool_clear, unpool_emit, unpool_fill,
    unpool_gather, unpool_report, unpool_scatter, unpool_settle,
};

use crate::kernel::{
    ActivationKind, Kernel, PassDigits, PassInput, Sink, Specialised, WORKGROUP, WindowConstants, count_digits,
};
use crate::wgsl::key::KernelKey;

/// A pass of a pool that reads the taps of its windows one by one. `specialised: None` is the generic build.
pub(crate) fn pool(
    reduction: Reduction,
    dtype: DType,
    input: PassInput,
    sink: Sink,
    activation: ActivationKind,
    specialised: Option<&Specialised>,
) -> KernelKey {
    let from = match input {
        PassInput::Elements => "elements",
        PassInput::Candidates => "candidates",
        PassInput::Accumulators => "accumulators",
    };
    let build = if specialised.is_some() { "specialised" } else { "generic" };
    let mut variants = vec!["core/pool"];
    variants.push(if specialised.is_some() { "window/constant" } else { "window/uniform" });
    variants.push(if sink == Sink::Accumulators { "window/part" } else { "window/whole" });
    variants.extend(match input {
        PassInput::Elements if specialised.is_some() => ["core/ordered", "core/scanned"],
        PassInput::Elements => ["core/scan", "core/elements"],
        PassInput::Candidates => ["core/scan", "core/candidates"],
        PassInput::Accumulators => ["core/accumulated"; 2],
    });
    if input != PassInput::Accumulators {
        variants.push("core/scanned");
    }
    let mut consts = specialised.map(|it| it.window.consts()).unwrap_or_default();
    consts.extend(specialised.map_or(PassDigits::ALL, |it| it.digits).consts());
    let index_digits = specialised.map(|it| it.index_digits).filter(|_| sink.index_type().is_some());
    count_digits(index_digits, &mut variants, &mut consts);
    if let Some(&Specialised { row, layers, .. }) = specialised
        && input == PassInput::Elements
    {
        variants.push(if row.words { "core/row_words" } else { "core/row_elements" });
        consts.extend([("LOADS", row.together), ("CHUNKS", row.chunks), ("LAYERS", layers.min(2))]);
    }
    let entry = match sink {
        Sink::Candidates => "kernel/pool_candidates",
        Sink::Accumulators => "kernel/pool_accumulate",
        Sink::Values | Sink::ValuesAndIndices(_) => "kernel/pool_values",
    };
    Kernel {
        element: Some(dtype),
        reduction: Some(reduction),
        activation: Some(activation),
        writes: sink.index_type(),
        variants,
        consts,
        ..Kernel::new(format!("pool {} {from} to {}, {build}", dtype.name(), sink.name()), entry)
    }
    .into()
}

/// Clears the flags that the first of several passes sets for the last pass.
pub(crate) fn clear_flags() -> KernelKey {
    let kernel = Kernel::new("pool clear flags".to_owned(), "kernel/pool_clear_flags");
    Kernel { variants: vec!["core/pool"], ..kernel }.into()
}

/// Packs elements that take a word each into words of Y.
pub(crate) fn pack(dtype: DType, activation: ActivationKind) -> KernelKey {
    Kernel {
        element: Some(dtype),
        activation: Some(activation),
        variants: vec!["core/pool", "core/kept_words"],
        ..Kernel::new(format!("pool {} pack", dtype.name()), "kernel/pool_pack")
    }
    .into()
}

/// The difference of two tensors, element by element.
pub(crate) fn difference(dtype: DType) -> KernelKey {
    let minus = match dtype {
        DType::I8 | DType::I16 | DType::I32 => "core/minus_signed",
        DType::I64 => "core/minus_signed64",
        DType::U64 => "core/minus_unsigned64",
        DType::F32 | DType::F16 | DType::Bf16 => "core/minus_floats",
        DType::F64 => "core/minus_f64",
        DType::U8 | DType::U16 | DType::U32 => "core/minus_unsigned",
    };
    let kernel = Kernel::new(format!("difference {}", dtype.name()), "kernel/difference");
    Kernel { element: Some(dtype), variants: vec![minus], ..kernel }.into()
}

/// The first dispatch of a reduction of whole planes, for a tensor of `elements` elements. `members` invocations share
/// a slice of a part.
pub(crate) fn reduce(plan: &PoolPlan, members: u32) -> KernelKey {
    let (dtype, elements) = (plan.dtype(), count(plan.input_shape()));
    let (load, loads) = loads_by_fours(dtype, elements);
    let mut variants = vec!["core/pool", "window/policy"];
    variants.extend(load);
    Kernel {
        element: Some(dtype),
        reduction: Some(plan.reduction),
        variants,
        consts: vec![
            ("NAN_POLICY", plan.nan_policy.number()),
            ("MEMBERS", members),
            ("TEAM", WORKGROUP as u32),
            ("WINDOWS", 1),
        ],
        ..Kernel::new(format!("pool {} reduced to candidates, {loads}", dtype.name()), "kernel/pool_reduce")
    }
    .into()
}

/// The parts that load four words of X at a time, and their name in the kernel's name, for an X of `elements` elements.
fn loads_by_fours(dtype: DType, elements: u64) -> ([&'static str; 2], &'static str) {
    let unpack = if dtype.bytes() == 8 { "element/unpack64" } else { "element/unpack" };
    // An array of vectors covers all of X only if X is a whole number of vectors.
    if elements.saturating_mul(dtype.bytes() as u64).is_multiple_of(16) {
        (["element/quads", unpack], "vectors")
    } else {
        (["element/quads_apart", unpack], "words")
    }
}

/// The window of each output of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TeamWindow {
    /// A whole plane.
    Plane,
    /// The candidates of the parts of a plane.
    Candidates,
    /// Rows: `along` invocations share each row; `deep` tells whether the window has several layers of rows.
    Rows { along: u32, deep: bool },
}

/// The properties that determine a kernel in which teams of invocations share windows.
pub(crate) struct TeamKey<'a> {
    pub reduction: Reduction,
    pub dtype: DType,
    /// Elements of X.
    pub elements: u64,
    pub sink: Sink,
    pub activation: ActivationKind,
    /// Invocations per team.
    pub members: u32,
    pub window: TeamWindow,
    pub constants: &'a WindowConstants,
}

/// A pool whose windows are shared by teams of invocations; for small planes a team is one invocation.
pub(crate) fn team(key: &TeamKey<'_>) -> KernelKey {
    let TeamKey { dtype, sink, members, .. } = *key;
    let size = dtype.bytes() as u32;
    let (load, loads) = loads_by_fours(dtype, key.elements);
    let mut consts = vec![("TEAM", members), ("WINDOWS", 4u32.div_ceil(size)), ("KEY_WORDS", size.div_ceil(4))];
    let (parts, what): (&[&str], _) = match key.window {
        TeamWindow::Plane => {
            (&["window/policy", "core/share_plane", "core/plane", "core/scanned"], "planes".to_owned())
        }
        TeamWindow::Candidates => (&["window/policy", "core/share_candidates"], "candidates".to_owned()),
        TeamWindow::Rows { along, deep } => {
            consts.extend([("ALONG", along), ("DEEP", deep.into())]);
            consts.extend(PassDigits::ALL.consts());
            let layers = if deep { "layers of rows" } else { "rows" };
            let parts = &["window/constant", "window/whole", "core/share_rows"];
            (parts, format!("{layers}, {along} invocations along them,"))
        }
    };
    consts.extend(match key.window {
        TeamWindow::Rows { .. } => key.constants.consts(),
        _ => vec![("NAN_POLICY", key.constants.nan_policy.number())],
    });
    let entry = match key.window {
        TeamWindow::Plane if members == 1 => "kernel/pool_values",
        _ => "kernel/pool_team",
    };
    let name = format!("pool {} to {}, {what} by teams of {members}, {loads}", dtype.name(), sink.name());
    Kernel {
        element: Some(dtype),
        reduction: Some(key.reduction),
        activation: Some(key.activation),
        writes: sink.index_type(),
        variants: [&["core/pool"], parts, &load].concat(),
        consts,
        ..Kernel::new(name, entry)
    }
    .into()
}
