//! The kernels by name: which part has the entry point, and what is chosen beside it.

use super::{
    ActivationKind, CellsKernel, Kernel, KernelKey, PassDigits, Reduction, Sink, Source, Specialised, UnpoolDigits,
    WindowConstants, nan_policy_number,
};
use crate::attributes::NanPolicy;
use crate::element::DType;
use crate::index::IndexType;

/// A pass of a pool that looks at every tap of its windows one by one; without constants it is the generic build.
pub(crate) fn pool(
    dtype: DType,
    source: Source,
    sink: Sink,
    activation: ActivationKind,
    specialised: Option<&Specialised>,
) -> KernelKey {
    let from = match source {
        Source::Elements => "elements",
        Source::Candidates => "candidates",
        Source::Accumulators => "accumulators",
    };
    let build = if specialised.is_some() { "specialised" } else { "generic" };
    let mut variants = vec!["core/pool.wgsl"];
    variants.push(if specialised.is_some() { "window/constant.wgsl" } else { "window/uniform.wgsl" });
    variants.push(if sink == Sink::Accumulators { "window/part.wgsl" } else { "window/whole.wgsl" });
    variants.extend(match source {
        Source::Elements if specialised.is_some() => ["core/ordered.wgsl", "core/scanned.wgsl"],
        Source::Elements => ["core/scan.wgsl", "core/elements.wgsl"],
        Source::Candidates => ["core/scan.wgsl", "core/candidates.wgsl"],
        Source::Accumulators => ["core/accumulated.wgsl"; 2],
    });
    if source != Source::Accumulators {
        variants.push("core/scanned.wgsl");
    }
    let mut consts = specialised.map(|it| it.window.consts()).unwrap_or_default();
    consts.extend(specialised.map_or(PassDigits::ALL, |it| it.digits).consts());
    if let Some(&Specialised { index_digits, .. }) = specialised
        && sink.index_type().is_some()
    {
        variants.push("index/digits_constant.wgsl");
        consts.extend(index_digits.consts());
    }
    if let Some(&Specialised { row, layers, .. }) = specialised
        && source == Source::Elements
    {
        variants.push(if row.words { "core/row_words.wgsl" } else { "core/row_elements.wgsl" });
        consts.extend([("LOADS", row.together), ("CHUNKS", row.chunks), ("LAYERS", layers.min(2))]);
    }
    let entry = match sink {
        Sink::Candidates => "kernel/pool_candidates.wgsl",
        Sink::Accumulators => "kernel/pool_accumulate.wgsl",
        Sink::Values | Sink::ValuesAndIndices(_) => "kernel/pool_values.wgsl",
    };
    Kernel {
        element: Some(dtype),
        reduction: Some(Reduction::Max),
        activation: Some(activation),
        writes: sink.index_type(),
        variants,
        consts,
        ..Kernel::new(format!("pool {} {from} to {}, {build}", dtype.name(), sink.name()), entry)
    }
    .into()
}

/// How the outputs of a pool of small windows are shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowsKernel {
    /// Line by line, where lines of outputs share none of X.
    Lines,
    /// In walks down neighbouring lines.
    Rows,
    /// As these two, in lines that do not come out even with words.
    OddLines,
    OddRows,
    /// In the order of Y, wherever lines end.
    Runs,
}

/// What a pool of small windows depends on, neighbouring outputs of which an invocation has.
pub(crate) struct RowsKey {
    pub dtype: DType,
    pub nan_policy: NanPolicy,
    pub sink: Sink,
    pub activation: ActivationKind,
    /// The parts that share what windows of a line have in common, and that load a line.
    pub line: &'static str,
    pub loads: &'static str,
    pub entry: RowsKernel,
    /// Whether four outputs are written at once.
    pub stores_quads: bool,
    /// Whether windows have several lines at one place of the last two axes.
    pub deep: bool,
    /// Lines of X from one line of outputs to the next that shares lines with it.
    pub lines_between: u32,
    /// Whether lines count on from plane to plane, in X as in Y, and each line of X belongs to one line of windows.
    pub lines_even: bool,
    /// Whether keys can hold the order of elements.
    pub ordered: bool,
    /// Whether an f32 is told by its key alone.
    pub keys_alone: bool,
    /// Whether indices are written in the order of Y.
    pub same_place: bool,
    /// Whether the bytes of X are a multiple of those of two words.
    pub in_pairs: bool,
    pub consts: Vec<(&'static str, u32)>,
}

impl RowsKey {
    /// The order of elements: by a key alone where elements are smaller than a word, so that it holds all there is to know.
    fn reduction(&self) -> &'static str {
        // The index of a window without a winner is asked for by its accumulator.
        let may_be_without = self.nan_policy == NanPolicy::SeedLowest && self.sink.index_type().is_some();
        match self.dtype {
            _ if may_be_without => "reduce/max.wgsl",
            DType::F32 if self.keys_alone => "reduce/max_of_words.wgsl",
            _ if self.dtype.bytes() > 2 => "reduce/max.wgsl",
            _ if !self.dtype.is_float() => "reduce/max_of_integers.wgsl",
            _ if self.ordered && self.nan_policy != NanPolicy::PropagateLast => "reduce/max_of_halves.wgsl",
            _ => "reduce/max.wgsl",
        }
    }

    fn variants(&self) -> Vec<&'static str> {
        let mut variants = vec!["core/pool.wgsl", "window/constant.wgsl", self.line, self.loads, self.reduction()];
        let [lanes, fours, output] = match self.dtype.bytes() {
            1 => ["lanes/byte4.wgsl", "row/fours8.wgsl", "row/output_fours.wgsl"],
            2 => ["lanes/half4.wgsl", "row/fours16.wgsl", "row/output_fours.wgsl"],
            4 => ["lanes/word4.wgsl", "row/fours32.wgsl", "row/output_fours.wgsl"],
            _ => ["lanes/pair1.wgsl", "row/fours64.wgsl", "row/output_fours64.wgsl"],
        };
        variants.extend([lanes, fours]);
        if self.stores_quads {
            variants.extend(["row/store_quads.wgsl", output]);
        } else {
            variants.push("row/store_elements.wgsl");
        }
        variants.push(if self.deep { "row/lines_deep.wgsl" } else { "row/lines_flat.wgsl" });
        variants.push(match (self.entry, self.lines_between) {
            (RowsKernel::OddRows, 1) => "row/odd_next_line.wgsl",
            (RowsKernel::OddRows, _) => "row/odd_next_lines.wgsl",
            (_, 1) => "row/next_line.wgsl",
            (_, _) => "row/next_lines.wgsl",
        });
        variants.push(if self.lines_even { "row/window_lines_even.wgsl" } else { "row/window_lines.wgsl" });
        variants.push(if self.in_pairs { "row/odd_pairs.wgsl" } else { "row/odd_words.wgsl" });
        variants.push(match self.nan_policy {
            NanPolicy::SeedLowest => "row/winner_perhaps.wgsl",
            NanPolicy::SeedFirst | NanPolicy::PropagateLast => "row/winner_always.wgsl",
        });
        variants.extend(match self.sink.index_type() {
            None => ["row/indices_none.wgsl"; 2],
            Some(IndexType::I32) if self.stores_quads && self.same_place => {
                ["row/indices.wgsl", "row/put_indices_i32.wgsl"]
            }
            Some(IndexType::I64) if self.stores_quads && self.same_place => {
                ["row/indices.wgsl", "row/put_indices_i64.wgsl"]
            }
            Some(_) => ["row/indices.wgsl", "row/put_indices.wgsl"],
        });
        variants
    }
}

/// A pool of small windows.
pub(crate) fn pool_rows(key: &RowsKey) -> KernelKey {
    let value = |name: &str| key.consts.iter().find(|(of, _)| *of == name).map_or(0, |&(_, value)| value);
    let [depth, height, width] = ["KERNEL_0", "KERNEL_1", "KERNEL_2"].map(value);
    let outputs = value("QUADS").saturating_mul(4);
    let (kind, entry) = match key.entry {
        RowsKernel::Lines => ("lines", "kernel/pool_lines.wgsl"),
        RowsKernel::Rows => ("rows", "kernel/pool_rows.wgsl"),
        RowsKernel::OddLines => ("odd lines", "kernel/pool_odd_lines.wgsl"),
        RowsKernel::OddRows => ("odd rows", "kernel/pool_odd_rows.wgsl"),
        RowsKernel::Runs => ("runs", "kernel/pool_runs.wgsl"),
    };
    let (dtype, sink) = (key.dtype.name(), key.sink.name());
    let mut consts = key.consts.clone();
    // Accumulators that are told by their keys alone, and have no places.
    let alike = key.sink.index_type().is_none() && key.reduction() != "reduce/max.wgsl";
    consts.push(("EQUALS_ALIKE", alike.into()));
    Kernel {
        element: Some(key.dtype),
        activation: Some(key.activation),
        writes: key.sink.index_type(),
        variants: key.variants(),
        consts,
        ..Kernel::new(format!("pool {dtype} to {sink}, {depth}x{height}x{width}, {kind} of {outputs} outputs"), entry)
    }
    .into()
}

/// How sliding maxima find windows that begin with a NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    /// They need not.
    Unknown,
    /// The last pass looks at the first elements of all windows where the first pass has met one.
    Flagged,
    /// The first pass notes for the last one which they are.
    Noted,
}

/// A pass of sliding maxima along the innermost axis, neighbours of which are the lanes of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlidingRow {
    /// Elements between those that are loaded together and a window's first.
    pub left: u32,
    /// Whether lines of X come out even with fours.
    pub even: bool,
}

/// What a pass of sliding maxima depends on.
pub(crate) struct SlidingKey {
    pub dtype: DType,
    pub nan_policy: NanPolicy,
    /// How the axis is taken apart, and whether that is into single taps.
    pub consts: Vec<(&'static str, u32)>,
    pub single_taps: bool,
    /// Whether it reads X, or what the pass before has kept.
    pub first: bool,
    /// Whether its lanes lie along the axis.
    pub row: Option<SlidingRow>,
    /// Candidates, where another pass follows.
    pub sink: Sink,
    /// Neighbouring lines of an invocation, and the bytes of their elements where a pass keeps them.
    pub lanes: u32,
    pub lane_bytes: usize,
    pub begins: Begins,
    /// Whether lines of X come out even with vectors of lanes, and whether those of Y do not, or lie closer than what is read.
    pub even_source: bool,
    pub partial: bool,
    /// Whether positions are kept beside elements.
    pub places: bool,
    /// Whether the index is the position, counted from the index of the first element.
    pub position_index: bool,
    /// Whether indices are written in the order of Y.
    pub same_place: bool,
    pub activation: ActivationKind,
}

impl SlidingKey {
    /// The order of elements: by a key alone where it holds all that there is to know.
    fn reduction(&self) -> &'static str {
        match self.dtype {
            _ if !self.dtype.is_float() => "reduce/max_of_integers.wgsl",
            _ if self.nan_policy == NanPolicy::PropagateLast => "reduce/max.wgsl",
            DType::F32 => "reduce/max_of_words.wgsl",
            DType::F16 | DType::Bf16 => "reduce/max_of_halves.wgsl",
            _ => "reduce/max.wgsl",
        }
    }

    /// The parts that read what the pass slides along.
    fn source(&self) -> Vec<&'static str> {
        let mut parts = match (self.first, self.row) {
            (false, _) => vec!["core/slide_kept.wgsl", "core/slide_places.wgsl"],
            (true, Some(SlidingRow { even: true, .. })) => {
                vec!["core/slide_row_fours.wgsl", "core/slide_positions.wgsl"]
            }
            (true, Some(_)) => vec!["core/slide_row_ones.wgsl", "core/slide_positions.wgsl"],
            (true, None) if self.even_source && self.lanes > 1 => {
                vec!["core/slide_x_lanes.wgsl", "core/slide_positions.wgsl"]
            }
            (true, None) => vec!["core/slide_x_ones.wgsl", "core/slide_positions.wgsl"],
        };
        if self.row.is_some_and(|row| row.even) {
            parts.push(match self.dtype.bytes() {
                1 => "row/fours8.wgsl",
                2 => "row/fours16.wgsl",
                _ => "row/fours32.wgsl",
            });
        }
        parts
    }

    /// The parts that find windows that begin with a NaN.
    fn begins(&self) -> [&'static str; 2] {
        let last = self.sink != Sink::Candidates;
        let found = if self.row.is_some() { "core/slide_first_row.wgsl" } else { "core/slide_first.wgsl" };
        match (self.begins, self.first, last) {
            (Begins::Flagged, true, false) => ["core/begins_flagged.wgsl", "core/slide_flag.wgsl"],
            (Begins::Flagged, true, true) => ["core/begins_flagged.wgsl", found],
            (Begins::Flagged, false, true) => ["core/begins_unknown.wgsl", found],
            (Begins::Noted, true, _) => ["core/begins_noted.wgsl", "core/slide_end.wgsl"],
            (Begins::Noted, false, true) => ["core/begins_unknown.wgsl", "core/slide_noted.wgsl"],
            _ => ["core/begins_unknown.wgsl", "core/slide_end.wgsl"],
        }
    }

    fn vector(&self) -> &'static str {
        match (self.lane_bytes, self.lanes) {
            (1, _) => "lanes/byte4.wgsl",
            (2, 2) => "lanes/half2.wgsl",
            (2, _) => "lanes/half4.wgsl",
            (4, 1) => "lanes/word1.wgsl",
            (4, 2) => "lanes/word2.wgsl",
            (4, _) => "lanes/word4.wgsl",
            (_, 1) => "lanes/pair1.wgsl",
            _ => "lanes/pair2.wgsl",
        }
    }
}

/// A maximum that slides along one axis.
pub(crate) fn sliding(key: &SlidingKey) -> KernelKey {
    let SlidingKey { dtype, sink, .. } = *key;
    let keeps = sink == Sink::Candidates;
    let mut variants = vec!["core/pool.wgsl", "window/policy.wgsl", key.reduction(), key.vector()];
    variants.extend(key.source());
    variants.push(match (keeps, key.places) {
        (true, false) => "core/slide_keep.wgsl",
        (true, true) => "core/slide_keep_places.wgsl",
        (false, _) => "core/slide_finish.wgsl",
    });
    variants.push(if key.single_taps { "core/slide_tap.wgsl" } else { "core/slide_taps.wgsl" });
    variants.extend(key.begins());
    variants.push("core/x_element.wgsl");
    variants.push(if key.first { "core/met_here.wgsl" } else { "core/met_before.wgsl" });
    variants.push(match (key.lane_bytes > dtype.bytes(), key.partial) {
        (true, false) => "core/slide_apart.wgsl",
        (true, true) => "core/slide_apart_ones.wgsl",
        (false, false) => "core/slide_y.wgsl",
        (false, true) => "core/slide_y_ones.wgsl",
    });
    variants.push(if key.partial { "core/slide_by_ones.wgsl" } else { "core/slide_by_vectors.wgsl" });
    variants.push(if sink.index_type().is_some() { "core/slide_index.wgsl" } else { "core/slide_no_index.wgsl" });
    let mut consts = key.consts.clone();
    consts.push(("NAN_POLICY", nan_policy_number(key.nan_policy)));
    consts.push(("PARTIAL", key.partial.into()));
    consts.push(("POSITION_INDEX", key.position_index.into()));
    consts.push(("SAME_PLACE", key.same_place.into()));
    let [chunks, chunk] = [0, 1].map(|at| consts.get(at).map_or(0, |(_, value)| *value));
    let from = if key.first { "X" } else { "kept" };
    let to = if keeps { "kept" } else { sink.name() };
    let lanes = key.lanes;
    let mut entry = "kernel/pool_sliding.wgsl";
    let mut along = "";
    if let Some(row) = key.row {
        entry = "kernel/pool_sliding_row.wgsl";
        along = if row.even { " along fours" } else { " along a row" };
        consts.push(("LEFT", row.left));
    }
    let name =
        format!("pool {} sliding from {from} to {to}, {chunks} chunks of {chunk}, {lanes} lanes{along}", dtype.name());
    Kernel {
        element: Some(dtype),
        activation: Some(key.activation).filter(|_| !keeps),
        writes: sink.index_type(),
        variants,
        consts,
        ..Kernel::new(name, entry)
    }
    .into()
}

/// What the first of several passes tells the last one is cleared.
pub(crate) fn clear_flags() -> KernelKey {
    let kernel = Kernel::new("pool clear flags".to_owned(), "kernel/pool_clear_flags.wgsl");
    Kernel { variants: vec!["core/pool.wgsl"], ..kernel }.into()
}

/// Elements in a word each are put together in words.
pub(crate) fn pack(dtype: DType, activation: ActivationKind) -> KernelKey {
    Kernel {
        element: Some(dtype),
        activation: Some(activation),
        variants: vec!["core/pool.wgsl", "core/kept_words.wgsl"],
        ..Kernel::new(format!("pool {} pack", dtype.name()), "kernel/pool_pack.wgsl")
    }
    .into()
}

/// The first stage of a reduction of whole planes of a tensor of so many elements.
pub(crate) fn reduce(dtype: DType, elements: u64, nan_policy: NanPolicy) -> KernelKey {
    let (load, loads) = loads_by_fours(dtype, elements);
    let mut variants = vec!["core/pool.wgsl", "window/policy.wgsl"];
    variants.extend(load);
    Kernel {
        element: Some(dtype),
        reduction: Some(Reduction::Max),
        variants,
        consts: vec![("NAN_POLICY", nan_policy_number(nan_policy))],
        ..Kernel::new(format!("pool {} reduced to candidates, {loads}", dtype.name()), "kernel/pool_reduce.wgsl")
    }
    .into()
}

/// The parts that read X by four words at a time, and how a kernel's name says it, for an X of so many elements.
fn loads_by_fours(dtype: DType, elements: u64) -> ([&'static str; 2], &'static str) {
    let unpack = if dtype.bytes() == 8 { "element/unpack64.wgsl" } else { "element/unpack.wgsl" };
    // An array of vectors holds all of X only where X comes out even with them.
    if elements.saturating_mul(dtype.bytes() as u64).is_multiple_of(16) {
        (["element/quads.wgsl", unpack], "vectors")
    } else {
        (["element/quads_apart.wgsl", unpack], "words")
    }
}

/// The window of each output of a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TeamWindow {
    /// A whole plane.
    Plane,
    /// Rows, of which so many invocations share each, and whether they lie in layers.
    Rows { along: u32, deep: bool },
}

/// What a pool by teams of invocations depends on.
pub(crate) struct TeamKey<'a> {
    pub dtype: DType,
    /// Elements of X.
    pub elements: u64,
    pub sink: Sink,
    pub activation: ActivationKind,
    /// Invocations of a team.
    pub members: u32,
    pub window: TeamWindow,
    pub constants: &'a WindowConstants,
}

/// A pool whose windows are shared by teams of invocations, of one each where planes are small.
pub(crate) fn team(key: &TeamKey<'_>) -> KernelKey {
    let TeamKey { dtype, sink, members, .. } = *key;
    let (load, loads) = loads_by_fours(dtype, key.elements);
    let mut variants = vec!["core/pool.wgsl"];
    variants.extend(load);
    let policy = vec![("NAN_POLICY", nan_policy_number(key.constants.nan_policy))];
    let (what, entry, mut consts) = match key.window {
        TeamWindow::Plane if members == 1 => {
            variants.extend(["window/policy.wgsl", "core/plane.wgsl", "core/scanned.wgsl"]);
            ("planes".to_owned(), "kernel/pool_values.wgsl", policy)
        }
        TeamWindow::Plane => {
            variants.extend(["window/policy.wgsl", "core/share_plane.wgsl"]);
            ("planes".to_owned(), "kernel/pool_team.wgsl", policy)
        }
        TeamWindow::Rows { along, deep } => {
            variants.extend(["window/constant.wgsl", "window/whole.wgsl", "core/share_rows.wgsl"]);
            let mut consts = key.constants.consts();
            consts.extend([("ALONG", along), ("DEEP", deep.into())]);
            consts.extend(PassDigits::ALL.consts());
            let layers = if deep { "layers of rows" } else { "rows" };
            (format!("{layers}, {along} invocations along them,"), "kernel/pool_team.wgsl", consts)
        }
    };
    if members > 1 {
        consts.push(("TEAM", members));
    }
    let name = format!("pool {} to {}, {what} by teams of {members}, {loads}", dtype.name(), sink.name());
    Kernel {
        element: Some(dtype),
        reduction: Some(Reduction::Max),
        activation: Some(key.activation),
        writes: sink.index_type(),
        variants,
        consts,
        ..Kernel::new(name, entry)
    }
    .into()
}

/// Clears the owners of an unpool, and its report.
pub(crate) fn unpool_clear(digits: UnpoolDigits) -> KernelKey {
    unpool("unpool clear".to_owned(), "kernel/unpool_clear.wgsl", digits).into()
}

/// Sources claim their targets.
pub(crate) fn unpool_claim(index_type: IndexType, digits: UnpoolDigits) -> KernelKey {
    let kernel = unpool(format!("unpool claim {}", index_type.name()), "kernel/unpool_claim.wgsl", digits);
    Kernel { reads: Some(index_type), ..kernel }.into()
}

/// Output words are written from their owners. The type of the indices, the first bad one of which is reported with its value,
/// is `None` where that is left to `unpool_report`, since the device has too few storage buffers. Those of outputs that another dispatch has dealt with before are not `fresh`.
pub(crate) fn unpool_emit(
    dtype: DType,
    index_type: Option<IndexType>,
    activation: ActivationKind,
    digits: UnpoolDigits,
    fresh: bool,
) -> KernelKey {
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
pub(crate) fn unpool_report(index_type: IndexType, digits: UnpoolDigits) -> KernelKey {
    let mut kernel = unpool(format!("unpool report {}", index_type.name()), "kernel/unpool_report.wgsl", digits);
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
