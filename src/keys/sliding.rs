//! Constructors of the kernels of sliding maxima.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, NanPolicy};

use crate::kernel::{ActivationKind, IndexDigits, Kernel, Sink, count_digits};
use crate::wgsl::key::KernelKey;

/// The method by which sliding maxima find windows that begin with a NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Begins {
    /// None: the NaN rule does not need these windows.
    Unknown,
    /// The first pass sets a flag if it meets a window that begins with a NaN; the last pass then reads the first
    /// elements of all windows.
    Flagged,
    /// The first pass writes notes for the last pass, which tell which windows begin with a NaN.
    Noted,
}

/// A pass of sliding maxima along the innermost axis, in which the lanes of a vector are neighbours along the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlidingRow {
    /// Elements between an aligned load of four and a window's first element.
    pub left: u32,
    /// Whether lines of X are multiples of four elements.
    pub even: bool,
}

/// The properties that determine a kernel of a pass of sliding maxima.
pub(crate) struct SlidingKey {
    pub reduction: Reduction,
    pub dtype: DType,
    pub nan_policy: NanPolicy,
    /// The division of the axis into chunks, and whether every chunk is a single tap.
    pub consts: Vec<(&'static str, u32)>,
    pub single_taps: bool,
    /// Whether the pass reads X; otherwise it reads scratch memory.
    pub first: bool,
    /// How the lanes lie along the axis; `None` if they lie across it.
    pub row: Option<SlidingRow>,
    /// `Candidates` where another pass follows.
    pub sink: Sink,
    /// Lanes of an invocation's vectors, and the bytes of an element in scratch memory.
    pub lanes: u32,
    pub lane_bytes: usize,
    pub begins: Begins,
    /// `even_source`: lines of X are whole vectors of lanes. `partial`: the lines that the last pass writes are not, or
    /// are shorter than the rows that it reads.
    pub even_source: bool,
    pub partial: bool,
    /// Whether passes keep positions beside elements.
    pub places: bool,
    /// Whether the index is the position, counted from the index of the first element.
    pub position_index: bool,
    /// Whether indices are written in the order of Y.
    pub same_place: bool,
    /// The numbers of digits, where indices or their places are computed by digits.
    pub index_digits: Option<IndexDigits>,
    pub activation: ActivationKind,
}

impl SlidingKey {
    /// The part with the order of elements: by a key alone where the key determines the element.
    fn reduction(&self) -> &'static str {
        let parts = self.reduction.parts();
        match self.dtype.bytes() {
            _ if !self.dtype.is_float() => parts.integers,
            _ if self.nan_policy == NanPolicy::PropagateLast => parts.any,
            4 => parts.words,
            2 => parts.halves,
            _ => parts.any,
        }
    }

    /// The parts that load the elements of a pass.
    fn source(&self) -> Vec<&'static str> {
        let mut parts = match (self.first, self.row) {
            (false, _) => vec!["core/slide_kept", "core/slide_places"],
            (true, Some(SlidingRow { even: true, .. })) => {
                vec!["core/slide_row_fours", "core/slide_positions"]
            }
            (true, Some(_)) => vec!["core/slide_row_ones", "core/slide_positions"],
            (true, None) if self.even_source && self.lanes > 1 => {
                vec!["core/slide_x_lanes", "core/slide_positions"]
            }
            (true, None) => vec!["core/slide_x_ones", "core/slide_positions"],
        };
        if self.row.is_some_and(|row| row.even) {
            parts.push(match self.dtype.bytes() {
                1 => "thread_tile/fours8",
                2 => "thread_tile/fours16",
                _ => "thread_tile/fours32",
            });
            parts.push("thread_tile/fours");
        }
        parts
    }

    /// The parts that find windows that begin with a NaN.
    fn begins(&self) -> [&'static str; 2] {
        let last = self.sink != Sink::Candidates;
        let found = if self.row.is_some() { "core/slide_first_row" } else { "core/slide_first" };
        match (self.begins, self.first, last) {
            (Begins::Flagged, true, false) => ["core/begins_flagged", "core/slide_flag"],
            (Begins::Flagged, true, true) => ["core/begins_flagged", found],
            (Begins::Flagged, false, true) => ["core/begins_unknown", found],
            (Begins::Noted, true, _) => ["core/begins_noted", "core/slide_end"],
            (Begins::Noted, false, true) => ["core/begins_unknown", "core/slide_noted"],
            _ => ["core/begins_unknown", "core/slide_end"],
        }
    }

    fn vector(&self) -> &'static str {
        match (self.lane_bytes, self.lanes) {
            (1, _) => "lanes/byte4",
            (2, 2) => "lanes/half2",
            (2, _) => "lanes/half4",
            (_, 1) => "lanes/one",
            (4, 2) => "lanes/word2",
            (4, _) => "lanes/word4",
            _ => "lanes/pair2",
        }
    }
}

/// A maximum that slides along one axis.
pub(crate) fn sliding(key: &SlidingKey) -> KernelKey {
    let SlidingKey { dtype, sink, .. } = *key;
    let keeps = sink == Sink::Candidates;
    let mut variants = vec!["core/pool", "window/policy", key.reduction(), key.vector()];
    variants.extend(key.source());
    variants.push(match (keeps, key.places) {
        (true, false) => "core/slide_keep",
        (true, true) => "core/slide_keep_places",
        (false, _) => "core/slide_finish",
    });
    variants.push(if key.single_taps { "core/slide_tap" } else { "core/slide_taps" });
    variants.extend(key.begins());
    variants.push(if key.first { "core/met_here" } else { "core/met_before" });
    variants.push(if key.lane_bytes > dtype.bytes() { "core/slide_apart" } else { "core/slide_y" });
    variants.push(if key.partial { "core/slide_by_ones" } else { "core/slide_by_vectors" });
    variants.push(if sink.index_type().is_some() { "core/slide_index" } else { "core/slide_no_index" });
    let mut consts = key.consts.clone();
    consts.push(("NAN_POLICY", key.nan_policy.number()));
    consts.push(("PARTIAL", key.partial.into()));
    consts.push(("POSITION_INDEX", key.position_index.into()));
    consts.push(("SAME_PLACE", key.same_place.into()));
    count_digits(key.index_digits, &mut variants, &mut consts);
    let [chunks, chunk] = [0, 1].map(|at| consts.get(at).map_or(0, |(_, value)| *value));
    let from = if key.first { "X" } else { "kept" };
    let to = if keeps { "kept" } else { sink.name() };
    let lanes = key.lanes;
    let mut entry = "kernel/pool_sliding";
    let mut along = "";
    if let Some(row) = key.row {
        entry = "kernel/pool_sliding_row";
        along = if row.even { " along fours" } else { " along a row" };
        consts.push(("LEFT", row.left));
    }
    let name =
        format!("pool {} sliding from {from} to {to}, {chunks} chunks of {chunk}, {lanes} lanes{along}", dtype.name());
    Kernel {
        element: Some(dtype),
        reduction: Some(key.reduction),
        activation: Some(key.activation).filter(|_| !keeps),
        writes: sink.index_type(),
        variants,
        consts,
        ..Kernel::new(name, entry)
    }
    .into()
}
