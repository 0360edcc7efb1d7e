//! Constructor of the kernels for small windows, in which an invocation computes a thread tile.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, IndexType, NanPolicy};

use crate::kernel::{ActivationKind, IndexDigits, Kernel, Sink, WindowConstants, count_digits};
use crate::wgsl::key::KernelKey;

/// The number of positions that keys of 16-bit floats can distinguish in a thread tile
/// (shaders/reduce/max_of_keys.wgsl).
const MOST_ORDERS: u64 = 0x7fff;

/// How the windows of a line share its elements (shaders/thread_tile/).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line {
    Sliding,
    Alternating,
    Apart,
    /// Windows of stride 1 with dilated taps: the same tap of neighbouring windows is contiguous and loaded in words.
    ApartInWords,
    /// A quad is four channels of one column; neighbouring columns share its loads.
    Channels,
}

/// The division of outputs among invocations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// Neighbours of a line, and the outputs below them.
    Tiles,
    /// The same, for elements smaller than a word whose lines are not whole words.
    OddTiles,
    /// Consecutive outputs in the order of Y, across the ends of lines: every invocation writes whole words.
    Runs,
}

/// The thread tile of an invocation, and the way in which it is computed.
pub(crate) struct ThreadTile {
    pub window: WindowConstants,
    pub line: Line,
    pub sharing: Sharing,
    /// Quads (groups of four outputs) that an invocation computes, and the columns along the last axis that it writes.
    pub quads: u32,
    pub across: u32,
    /// Elements per word.
    pub in_a_word: u32,
    /// Neighbouring channels per invocation in NHWC; zero where nothing lies inside the last axis.
    pub channels: u32,
    /// Whether a line holds all channels, several to a word.
    pub channels_along: bool,
    /// Lines of X from one line of a tile to the next, and the step between these lines in lines of Y.
    pub lines_between: u32,
    pub outputs_between: u32,
}

impl ThreadTile {
    /// Whether outputs below each other share lines of X.
    pub fn shares_lines(&self) -> bool {
        let [_, lines, _] = self.window.kernel;
        lines > self.lines_between
    }

    /// Neighbouring outputs that an invocation computes where lines are not whole words, so that it can write whole
    /// words.
    pub fn outputs_seen(&self) -> u32 {
        let further = if self.shares_lines() { self.in_a_word.saturating_sub(1) } else { 0 };
        self.across.saturating_add(further)
    }
}

/// What else a kernel knows of lines that are not whole words.
pub(crate) struct OddTile {
    /// Whether the first window of every tile begins at a word boundary of X.
    pub x_aligned: bool,
    /// Columns by which windows reach beyond the end of a line.
    pub behind: u32,
}

/// The properties that determine a kernel for small windows.
pub(crate) struct ThreadTileKey<'a> {
    pub reduction: Reduction,
    pub dtype: DType,
    pub sink: Sink,
    pub activation: ActivationKind,
    pub tile: &'a ThreadTile,
    /// Of [`Sharing::OddTiles`].
    pub odd: Option<OddTile>,
    /// Whether a line's elements are loaded four at a time, and whether its outputs are then a multiple of eight.
    pub in_quads: bool,
    pub in_eights: bool,
    /// Whether four outputs are written at once.
    pub stores_quads: bool,
    /// Whether lines are numbered across planes, in X as in Y, and each line of X belongs to one line of windows.
    pub lines_even: bool,
    /// The extents (depth, lines, columns) of the order numbers that keys hold to distinguish the elements of a thread
    /// tile.
    pub orders: [u32; 3],
    /// The number of the conversion from a position to an index (shaders/thread_tile/indices.wgsl).
    pub index_map: u32,
    /// Whether indices are written in the order of Y.
    pub same_place: bool,
    /// The numbers of digits, where indices or their places are computed by digits.
    pub index_digits: Option<IndexDigits>,
    /// Whether the bytes of X are a multiple of eight.
    pub in_pairs: bool,
}

impl ThreadTileKey<'_> {
    /// The part with the order of elements. Where elements are smaller than a word, a key can hold all of the
    /// accumulator; of f32 with four channels, the key alone, from which the element is recovered.
    fn reduction(&self) -> &'static str {
        let parts = self.reduction.parts();
        // Whether keys can hold the order of elements.
        let ordered = self.orders.into_iter().fold(1, |all: u64, of| all.saturating_mul(of.into())) < MOST_ORDERS;
        let last = self.tile.window.nan_policy == NanPolicy::PropagateLast;
        match self.dtype {
            DType::F32 if ordered && !last && self.tile.channels == 4 => parts.words,
            _ if self.dtype.bytes() > 2 => parts.any,
            _ if !self.dtype.is_float() => parts.integers,
            _ if self.dtype.bytes() < 2 || !ordered || last => parts.any,
            _ => parts.halves,
        }
    }

    /// The part that shares work between the windows of a line, and the part that loads a line.
    fn line(&self) -> [&'static str; 2] {
        let ThreadTile { line, sharing, window, .. } = self.tile;
        let shares = match line {
            Line::Sliding => "thread_tile/sliding",
            Line::Alternating => "thread_tile/alternating",
            Line::Apart => "thread_tile/apart",
            Line::ApartInWords => "thread_tile/apart_in_words",
            Line::Channels => "thread_tile/channels",
        };
        let loads = match line {
            Line::Channels => "thread_tile/channels",
            _ if *sharing == Sharing::OddTiles => "thread_tile/odd_line",
            _ if self.in_quads => "thread_tile/in_quads",
            Line::Sliding | Line::Alternating if self.dtype.bytes() < 4 && window.dilation[2] == 1 => {
                "thread_tile/in_words"
            }
            Line::ApartInWords => "thread_tile/apart_in_words",
            _ => "thread_tile/elements",
        };
        [shares, loads]
    }

    fn variants(&self) -> Vec<&'static str> {
        let ThreadTile { window, sharing, quads, .. } = self.tile;
        let mut variants = vec!["core/pool", "window/constant"];
        variants.extend(self.line());
        variants.push(self.reduction());
        let [fours @ .., output] = by_fours(self.dtype);
        variants.extend(fours);
        if self.stores_quads {
            variants.extend(["thread_tile/store_quads", output]);
        } else {
            variants.push("thread_tile/store_elements");
        }
        variants.extend(match sharing {
            Sharing::OddTiles => ["thread_tile/odd_tile"; 2],
            _ if window.kernel[0] > 1 => ["thread_tile/tile", "thread_tile/lines_deep"],
            _ => ["thread_tile/tile", "thread_tile/lines_flat"],
        });
        variants.push("thread_tile/windows");
        variants.push(if *quads > 1 { "thread_tile/row_of_two" } else { "thread_tile/row_of_one" });
        variants.push(if window.kernel[1] > 3 { "thread_tile/kept_seven" } else { "thread_tile/kept_three" });
        variants.push(if self.lines_even { "thread_tile/window_lines_even" } else { "thread_tile/window_lines" });
        variants.push(if self.in_pairs { "thread_tile/odd_pairs" } else { "thread_tile/odd_words" });
        let perhaps = window.nan_policy == NanPolicy::SeedLowest;
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

    /// The constants, without those of index digits.
    fn consts(&self) -> Vec<(&'static str, u32)> {
        let tile = self.tile;
        let mut consts = tile.window.consts();
        let [_, order_lines, order_columns] = self.orders;
        let pad = ("PAD_2", tile.window.pad_begin[2] as u32);
        consts.extend([
            ("QUADS", tile.quads),
            ("CHANNELS_INSIDE", tile.channels),
            ("CHANNELS_ALONG", tile.channels_along.into()),
            ("ORDER_LINES", order_lines),
            ("ORDER_COLUMNS", order_columns),
            ("INDEX_MAP", self.index_map),
            ("SAME_PLACE", self.same_place.into()),
        ]);
        if let Some(odd) = &self.odd {
            consts.extend([
                ("OWNED", tile.across),
                ("OUTPUTS_SEEN", tile.outputs_seen()),
                ("SHARED_LINES", tile.shares_lines().into()),
                pad,
                ("X_ALIGNED", odd.x_aligned.into()),
                ("BEHIND", odd.behind),
            ]);
        }
        if tile.sharing == Sharing::Tiles {
            consts.push(("ACROSS", tile.across));
        }
        if tile.sharing != Sharing::Runs && tile.shares_lines() {
            consts.extend([("LINES_BETWEEN", tile.lines_between), ("OUTPUTS_BETWEEN", tile.outputs_between)]);
        }
        if self.in_quads {
            consts.extend([pad, ("LINES_IN_EIGHTS", self.in_eights.into())]);
        }
        // Whether equal keys mean equal accumulators: an accumulator then holds no position, and no element beside the
        // key.
        let alike = self.sink.index_type().is_none() && self.reduction() != self.reduction.parts().any;
        consts.push(("EQUALS_ALIKE", alike.into()));
        consts
    }
}

/// The parts that load and store four neighbouring elements at once; the last one stores them.
pub(super) fn by_fours(dtype: DType) -> [&'static str; 4] {
    match dtype.bytes() {
        1 => ["lanes/byte4", "thread_tile/fours8", "thread_tile/fours", "thread_tile/output_fours"],
        2 => ["lanes/half4", "thread_tile/fours16", "thread_tile/fours", "thread_tile/output_fours"],
        4 => ["lanes/word4", "thread_tile/fours32", "thread_tile/fours", "thread_tile/output_fours"],
        _ => ["lanes/one", "thread_tile/fours64", "thread_tile/fours64", "thread_tile/output_fours64"],
    }
}

/// A pool of small windows by thread tiles.
pub(crate) fn thread_tile(key: &ThreadTileKey<'_>) -> KernelKey {
    let [depth, height, width] = key.tile.window.kernel;
    let outputs = key.tile.quads.saturating_mul(4);
    let (kind, entry) = match (key.tile.sharing, key.tile.shares_lines()) {
        (Sharing::Tiles, false) => ("lines", "kernel/pool_lines"),
        (Sharing::Tiles, true) => ("shared lines", "kernel/pool_shared_lines"),
        (Sharing::OddTiles, false) => ("odd lines", "kernel/pool_odd_lines"),
        (Sharing::OddTiles, true) => ("odd shared lines", "kernel/pool_odd_shared_lines"),
        (Sharing::Runs, _) => ("runs", "kernel/pool_runs"),
    };
    let (dtype, sink) = (key.dtype.name(), key.sink.name());
    let (mut variants, mut consts) = (key.variants(), key.consts());
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
