//! Constructor of the kernels for small windows of elements smaller than a word, whose lines are not whole words.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, NanPolicy};

use crate::kernel::{ActivationKind, IndexDigits, Kernel, Sink, WindowConstants, count_digits};
use crate::wgsl::key::KernelKey;

/// The number of positions that keys of 16-bit floats can distinguish in a thread tile
/// (shaders/reduce/max_of_keys.wgsl).
const MOST_ORDERS: u64 = 0x7fff;

/// The thread tile of an invocation, and the way in which it is computed.
pub(crate) struct OddTile {
    pub window: WindowConstants,
    /// Quads (groups of four outputs) that an invocation computes, and the columns along the last axis that it writes.
    pub quads: u32,
    pub across: u32,
    /// Elements per word.
    pub in_a_word: u32,
    /// Lines of X from one line of a tile to the next.
    pub lines_between: u32,
}

impl OddTile {
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
pub(crate) struct OddLine {
    /// Whether the first window of every tile begins at a word boundary of X.
    pub x_aligned: bool,
    /// Columns by which windows reach beyond the end of a line.
    pub behind: u32,
}

/// The properties that determine a kernel for small windows.
pub(crate) struct OddTileKey<'a> {
    pub reduction: Reduction,
    pub dtype: DType,
    pub sink: Sink,
    pub activation: ActivationKind,
    pub tile: &'a OddTile,
    pub odd: OddLine,
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

impl OddTileKey<'_> {
    /// The part with the order of elements: a key can hold all of the accumulator, if there is room for the order of
    /// the tile's elements.
    fn reduction(&self) -> &'static str {
        let parts = self.reduction.parts();
        // Whether keys can hold the order of elements.
        let ordered = self.orders.into_iter().fold(1, |all: u64, of| all.saturating_mul(of.into())) < MOST_ORDERS;
        let last = self.tile.window.nan_policy == NanPolicy::PropagateLast;
        match self.dtype {
            _ if !self.dtype.is_float() => parts.integers,
            _ if self.dtype.bytes() < 2 || !ordered || last => parts.any,
            _ => parts.halves,
        }
    }

    fn variants(&self) -> Vec<&'static str> {
        let window = &self.tile.window;
        let mut variants = vec!["core/pool", "window/constant"];
        variants.push(self.reduction());
        variants.push(if self.in_pairs { "odd_tile/odd_pairs" } else { "odd_tile/odd_words" });
        let perhaps = window.nan_policy == NanPolicy::SeedLowest;
        variants.push(if perhaps { "thread_tile/winner_perhaps" } else { "thread_tile/winner_always" });
        variants.extend(match self.sink.index_type() {
            None => ["thread_tile/indices_none"; 2],
            Some(_) => ["thread_tile/indices", "thread_tile/put_indices"],
        });
        variants
    }

    /// The constants, without those of index digits.
    fn consts(&self) -> Vec<(&'static str, u32)> {
        let tile = self.tile;
        let mut consts = tile.window.consts();
        let [_, order_lines, order_columns] = self.orders;
        consts.extend([
            ("QUADS", tile.quads),
            ("CHANNELS_INSIDE", 0),
            ("CHANNELS_ALONG", 0),
            ("ORDER_LINES", order_lines),
            ("ORDER_COLUMNS", order_columns),
            ("INDEX_MAP", self.index_map),
            ("SAME_PLACE", self.same_place.into()),
        ]);
        let odd = &self.odd;
        consts.extend([
            ("OWNED", tile.across),
            ("OUTPUTS_SEEN", tile.outputs_seen()),
            ("SHARED_LINES", tile.shares_lines().into()),
            ("PAD_2", tile.window.pad_begin[2] as u32),
            ("X_ALIGNED", odd.x_aligned.into()),
            ("BEHIND", odd.behind),
        ]);
        if tile.shares_lines() {
            consts.extend([("LINES_BETWEEN", tile.lines_between)]);
        }
        // Whether equal keys mean equal accumulators: an accumulator then holds no position, and no element beside the
        // key.
        let alike = self.sink.index_type().is_none() && self.reduction() != self.reduction.parts().any;
        consts.push(("EQUALS_ALIKE", alike.into()));
        consts
    }
}

/// A pool of small windows by thread tiles.
pub(crate) fn odd_tile(key: &OddTileKey<'_>) -> KernelKey {
    let [depth, height, width] = key.tile.window.kernel;
    let outputs = key.tile.quads.saturating_mul(4);
    let (kind, entry) = match key.tile.shares_lines() {
        false => ("odd lines", "kernel/pool_odd_lines"),
        true => ("odd shared lines", "kernel/pool_odd_shared_lines"),
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
