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
    /// The first pass writes notes for the last pass, each of which tells for this many windows whether they begin with
    /// a NaN.
    Noted(u32),
}

/// A pass of sliding maxima along the innermost axis, in which the lanes of a vector are neighbours along the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlidingRow {
    /// Elements between an aligned load of four and a window's first element.
    pub left: u32,
    /// Whether lines of X are multiples of four elements.
    pub even: bool,
}

/// The window of a pass in chunks: of each chunk of `chunk` taps `read` taps are read, and of a further chunk `rest`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SlidingWindow {
    pub chunks: u32,
    pub chunk: u32,
    pub read: u32,
    pub rest: u32,
    /// Whether there is one further tap at the end.
    pub last_tap: bool,
    pub dilated: bool,
}

impl SlidingWindow {
    /// Whether every chunk is one tap.
    fn has_single_taps(&self) -> bool {
        self.read == 1 && self.rest == 0 && !self.last_tap
    }
}

/// How the last pass finds the first elements of the plan's own windows: the distance in taps of neighbouring windows
/// of a class, the dilation of the axis, and the axes inside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstElements {
    pub stride: u32,
    pub dilation: u32,
    pub channels_inside: bool,
    pub inner_axes: u32,
    pub inner_dilated: bool,
}

/// The properties that determine a kernel of a pass of sliding maxima.
pub(crate) struct SlidingKey {
    pub reduction: Reduction,
    pub dtype: DType,
    pub nan_policy: NanPolicy,
    pub window: SlidingWindow,
    /// Windows per invocation.
    pub run: u32,
    /// Of the last pass.
    pub first_elements: Option<FirstElements>,
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
        match self.dtype.bytes() {
            _ if !self.dtype.is_float() => "reduce/max_of_integers",
            _ if self.nan_policy == NanPolicy::PropagateLast => "reduce/max",
            4 => "reduce/max_of_words",
            2 => "reduce/max_of_halves",
            _ => "reduce/max",
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
            (Begins::Noted(_), true, _) => ["core/begins_noted", "core/slide_end"],
            (Begins::Noted(_), false, true) => ["core/begins_unknown", "core/slide_noted"],
            _ => ["core/begins_unknown", "core/slide_end"],
        }
    }

    /// The constants, without those of index digits and of rows.
    fn consts(&self) -> Vec<(&'static str, u32)> {
        let SlidingWindow { chunks, chunk, read, rest, last_tap, dilated } = self.window;
        let mut consts = vec![("CHUNKS", chunks), ("CHUNK", chunk), ("READ", read), ("REST", rest)];
        consts.extend([("LAST_TAP", last_tap.into()), ("DILATED", dilated.into()), ("RUN", self.run)]);
        if let Some(first) = self.first_elements {
            consts.extend([
                ("FIRST_STRIDE", first.stride),
                ("FIRST_DILATION", first.dilation),
                ("CHANNELS_INSIDE", first.channels_inside.into()),
                ("INNER_AXES", first.inner_axes),
                ("INNER_DILATED", first.inner_dilated.into()),
            ]);
            if let Begins::Noted(windows) = self.begins {
                consts.push(("NOTED", windows));
            }
        }
        consts.extend([
            ("NAN_POLICY", self.nan_policy.number()),
            ("PARTIAL", self.partial.into()),
            ("POSITION_INDEX", self.position_index.into()),
            ("SAME_PLACE", self.same_place.into()),
        ]);
        consts
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
    variants.push(if key.window.has_single_taps() { "core/slide_tap" } else { "core/slide_taps" });
    variants.extend(key.begins());
    variants.push(if key.first { "core/met_here" } else { "core/met_before" });
    variants.push(if key.lane_bytes > dtype.bytes() { "core/slide_apart" } else { "core/slide_y" });
    variants.push(if key.partial { "core/slide_by_ones" } else { "core/slide_by_vectors" });
    variants.push(if sink.index_type().is_some() { "core/slide_index" } else { "core/slide_no_index" });
    let mut consts = key.consts();
    count_digits(key.index_digits, &mut variants, &mut consts);
    let SlidingWindow { chunks, chunk, .. } = key.window;
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
