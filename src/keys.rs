//! Constructors of kernels: each chooses the part with the entry point, the variants of other parts, and the constants.

mod sliding;
mod unpool;

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, IndexType, NanPolicy};

pub(crate) use sliding::{Begins, SlidingKey, SlidingRow, sliding};
pub(crate) use unpool::{
    unpool_cells, unpool_check, unpool_claim, unpool_clear, unpool_emit, unpool_fill, unpool_gather, unpool_indirect,
    unpool_report, unpool_scatter,
};

use crate::kernel::{
    ActivationKind, IndexDigits, Kernel, PassDigits, PassInput, Sink, Specialised, WindowConstants, count_digits,
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

/// How the outputs of a pool with small windows are divided into thread tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadTileKernel {
    /// Line by line, where lines of outputs share no lines of X.
    Lines,
    /// In thread tiles of several lines, which share lines of X.
    SharedLines,
    /// `Lines` where lines are not whole words.
    OddLines,
    /// `SharedLines` where lines are not whole words.
    OddSharedLines,
    /// In the order of Y, across the ends of lines.
    Runs,
}

/// The properties that determine a kernel for small windows, in which an invocation computes a thread tile.
pub(crate) struct ThreadTileKey {
    pub reduction: Reduction,
    pub dtype: DType,
    pub nan_policy: NanPolicy,
    pub sink: Sink,
    pub activation: ActivationKind,
    /// The part that shares work between the windows of a line, and the part that loads a line.
    pub line: &'static str,
    pub loads: &'static str,
    pub entry: ThreadTileKernel,
    /// Whether four outputs are written at once.
    pub stores_quads: bool,
    /// Whether windows have several taps along the outermost of the three axes.
    pub deep: bool,
    /// Whether lines are numbered across planes, in X as in Y, and each line of X belongs to one line of windows.
    pub lines_even: bool,
    /// Whether keys can hold the order of elements.
    pub ordered: bool,
    /// Whether accumulators of f32 hold the key alone, from which the element is recovered.
    pub keys_alone: bool,
    /// Whether indices are written in the order of Y.
    pub same_place: bool,
    /// Whether the bytes of X are a multiple of eight.
    pub in_pairs: bool,
    /// The numbers of digits, where indices or their places are computed by digits.
    pub index_digits: Option<IndexDigits>,
    pub consts: Vec<(&'static str, u32)>,
}

impl ThreadTileKey {
    /// A constant's value; zero where the kernel has no such constant.
    fn value(&self, name: &str) -> u32 {
        self.consts.iter().find(|(of, _)| *of == name).map_or(0, |&(_, value)| value)
    }

    /// The part with the order of elements. Where elements are smaller than a word, a key can hold all of the
    /// accumulator.
    fn reduction(&self) -> &'static str {
        let parts = self.reduction.parts();
        match self.dtype {
            DType::F32 if self.keys_alone => parts.words,
            _ if self.dtype.bytes() > 2 => parts.any,
            _ if !self.dtype.is_float() => parts.integers,
            _ if self.dtype.bytes() < 2 || !self.ordered => parts.any,
            _ if self.nan_policy == NanPolicy::PropagateLast => parts.any,
            _ => parts.halves,
        }
    }

    fn variants(&self) -> Vec<&'static str> {
        let mut variants = vec!["core/pool", "window/constant", self.line, self.loads, self.reduction()];
        let [fours @ .., output] = by_fours(self.dtype);
        variants.extend(fours);
        if self.stores_quads {
            variants.extend(["thread_tile/store_quads", output]);
        } else {
            variants.push("thread_tile/store_elements");
        }
        variants.extend(match self.entry {
            ThreadTileKernel::OddLines | ThreadTileKernel::OddSharedLines => ["thread_tile/odd_tile"; 2],
            _ if self.deep => ["thread_tile/tile", "thread_tile/lines_deep"],
            _ => ["thread_tile/tile", "thread_tile/lines_flat"],
        });
        variants.push("thread_tile/windows");
        variants.push(if self.value("QUADS") > 1 { "thread_tile/row_of_two" } else { "thread_tile/row_of_one" });
        variants.push(if self.value("KERNEL_1") > 3 { "thread_tile/kept_seven" } else { "thread_tile/kept_three" });
        variants.push(if self.lines_even { "thread_tile/window_lines_even" } else { "thread_tile/window_lines" });
        variants.push(if self.in_pairs { "thread_tile/odd_pairs" } else { "thread_tile/odd_words" });
        let perhaps = self.nan_policy == NanPolicy::SeedLowest;
        variants.push(if perhaps { "thread_tile/winner_perhaps" } else { "thread_tile/winner_always" });
        variants.extend(match self.sink.index_type() {
            None => ["thread_tile/indices_none"; 2],
            Some(IndexType::I32) if self.stores_quads && self.same_place => {
                ["thread_tile/indices", "thread_tile/put_indices_i32"]
            }
            Some(IndexType::I64) if self.stores_quads && self.same_place => {
                ["thread_tile/indices", "thread_tile/put_indices_i64"]
            }
            Some(_) => ["thread_tile/indices", "thread_tile/put_indices"],
        });
        variants
    }
}

/// The parts that load and store four neighbouring elements at once; the last one stores them.
fn by_fours(dtype: DType) -> [&'static str; 4] {
    match dtype.bytes() {
        1 => ["lanes/byte4", "thread_tile/fours8", "thread_tile/fours", "thread_tile/output_fours"],
        2 => ["lanes/half4", "thread_tile/fours16", "thread_tile/fours", "thread_tile/output_fours"],
        4 => ["lanes/word4", "thread_tile/fours32", "thread_tile/fours", "thread_tile/output_fours"],
        _ => ["lanes/one", "thread_tile/fours64", "thread_tile/fours64", "thread_tile/output_fours64"],
    }
}

/// A pool of small windows by thread tiles.
pub(crate) fn thread_tile(key: &ThreadTileKey) -> KernelKey {
    let [depth, height, width] = ["KERNEL_0", "KERNEL_1", "KERNEL_2"].map(|name| key.value(name));
    let outputs = key.value("QUADS").saturating_mul(4);
    let (kind, entry) = match key.entry {
        ThreadTileKernel::Lines => ("lines", "kernel/pool_lines"),
        ThreadTileKernel::SharedLines => ("shared lines", "kernel/pool_shared_lines"),
        ThreadTileKernel::OddLines => ("odd lines", "kernel/pool_odd_lines"),
        ThreadTileKernel::OddSharedLines => ("odd shared lines", "kernel/pool_odd_shared_lines"),
        ThreadTileKernel::Runs => ("runs", "kernel/pool_runs"),
    };
    let (dtype, sink) = (key.dtype.name(), key.sink.name());
    let mut consts = key.consts.clone();
    // Whether equal keys mean equal accumulators: an accumulator then holds no position, and no element beside the key.
    let alike = key.sink.index_type().is_none() && key.reduction() != key.reduction.parts().any;
    consts.push(("EQUALS_ALIKE", alike.into()));
    let mut variants = key.variants();
    count_digits(key.index_digits, &mut variants, &mut consts);
    Kernel {
        element: Some(key.dtype),
        reduction: Some(key.reduction),
        activation: Some(key.activation),
        writes: key.sink.index_type(),
        variants,
        consts,
        ..Kernel::new(
            format!("pool {dtype} to {sink}, {depth}x{height}x{width}, thread tile, {kind} of {outputs} outputs"),
            entry,
        )
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

/// The first stage of a reduction of whole planes, for a tensor of `elements` elements.
pub(crate) fn reduce(reduction: Reduction, dtype: DType, elements: u64, nan_policy: NanPolicy) -> KernelKey {
    let (load, loads) = loads_by_fours(dtype, elements);
    let mut variants = vec!["core/pool", "window/policy"];
    variants.extend(load);
    Kernel {
        element: Some(dtype),
        reduction: Some(reduction),
        variants,
        consts: vec![("NAN_POLICY", nan_policy.number())],
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
    let (load, loads) = loads_by_fours(dtype, key.elements);
    let mut variants = vec!["core/pool"];
    variants.extend(load);
    let policy = vec![("NAN_POLICY", key.constants.nan_policy.number())];
    let (what, entry, mut consts) = match key.window {
        TeamWindow::Plane if members == 1 => {
            variants.extend(["window/policy", "core/plane", "core/scanned"]);
            ("planes".to_owned(), "kernel/pool_values", policy)
        }
        TeamWindow::Plane => {
            variants.extend(["window/policy", "core/share_plane"]);
            ("planes".to_owned(), "kernel/pool_team", policy)
        }
        TeamWindow::Rows { along, deep } => {
            variants.extend(["window/constant", "window/whole", "core/share_rows"]);
            let mut consts = key.constants.consts();
            consts.extend([("ALONG", along), ("DEEP", deep.into())]);
            consts.extend(PassDigits::ALL.consts());
            let layers = if deep { "layers of rows" } else { "rows" };
            (format!("{layers}, {along} invocations along them,"), "kernel/pool_team", consts)
        }
    };
    if members > 1 {
        consts.push(("TEAM", members));
    }
    let name = format!("pool {} to {}, {what} by teams of {members}, {loads}", dtype.name(), sink.name());
    Kernel {
        element: Some(dtype),
        reduction: Some(key.reduction),
        activation: Some(key.activation),
        writes: sink.index_type(),
        variants,
        consts,
        ..Kernel::new(name, entry)
    }
    .into()
}
