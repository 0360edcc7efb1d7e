//! Constructor of the kernels for small windows, in which an invocation computes a thread tile.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, IndexType, NanPolicy};

use crate::kernel::{ActivationKind, IndexDigits, Kernel, Sink, WindowConstants, count_digits};
use crate::wgsl::key::KernelKey;

/// What a thread tile loads of a line of X.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// Elements before whole vectors, the elements of these vectors, and elements behind them.
    Along { before: u32, vectors: u32, behind: u32 },
    /// The elements that four windows span in a line which is not whole words. The first `before` of them can lie
    /// before the line, and those from number `behind` on behind it.
    Shifted { elements: u32, before: u32, behind: u32 },
    /// A vector of four channels for each tap.
    Channels,
    /// An element for each tap.
    One,
    /// The same, for the outputs of a word of Y, one after the other.
    Word,
}

/// The thread tile of an invocation.
pub(crate) struct ThreadTile {
    pub window: WindowConstants,
    pub span: Span,
    /// Lines of outputs.
    pub lines: u32,
    /// Whether channels lie inside the last axis, and whether a line holds all channels.
    pub inner: bool,
    pub channels_along: bool,
    /// Lines of the tile from one line of outputs to the next, and the step between these in lines of Y.
    pub lines_between: u32,
    pub outputs_between: u32,
}

impl ThreadTile {
    /// The lines of X that so many lines of outputs span, at one depth.
    pub fn rows_of(&self, lines: u32) -> u32 {
        let [_, kernel, _] = self.window.kernel;
        lines.saturating_sub(1).saturating_mul(self.lines_between).saturating_add(kernel)
    }
}

/// The properties that determine such a kernel.
pub(crate) struct ThreadTileKey<'a> {
    pub reduction: Reduction,
    pub dtype: DType,
    pub sink: Sink,
    pub activation: ActivationKind,
    pub tile: &'a ThreadTile,
    /// The number of the conversion from a position to an index (shaders/thread_tile/indices.wgsl).
    pub index_map: u32,
    /// Whether indices are written in the order of Y.
    pub same_place: bool,
    /// The numbers of digits, where indices or their places are computed by digits.
    pub index_digits: Option<IndexDigits>,
}

impl ThreadTileKey<'_> {
    fn variants(&self) -> Vec<&'static str> {
        let policy = self.tile.window.nan_policy;
        let mut variants = vec!["core/pool", "window/policy", "thread_tile/tile_outcome"];
        let pairs = self.dtype.bytes() == 8;
        let one = matches!(self.tile.span, Span::One | Span::Word);
        let shifted = matches!(self.tile.span, Span::Shifted { .. });
        if one {
            variants.extend(["thread_tile/one_lane", "element/memory", "thread_tile/ones"]);
            variants.extend(match (self.tile.span, pairs) {
                (Span::Word, _) => ["thread_tile/one_at_once", "thread_tile/put_in_word", "thread_tile/store_in_word"],
                (_, true) => ["thread_tile/pair_at_once", "thread_tile/keys_of_pair", "thread_tile/store_one_pair"],
                (_, false) => ["thread_tile/one_at_once", "thread_tile/put_one_lane", "thread_tile/store_one"],
            });
        } else if shifted {
            let vector = if self.dtype.bytes() == 1 { "lanes/byte4" } else { "lanes/half2" };
            variants.extend([vector, "element/memory", "thread_tile/ones", "thread_tile/four_lanes"]);
            variants.extend(["thread_tile/lanes_from_four", "thread_tile/shared_words", "thread_tile/store_kept"]);
        } else {
            variants.extend(by_fours(self.dtype));
            variants.extend(["thread_tile/four_lanes", "thread_tile/four_at_once", "thread_tile/put_four_lanes"]);
            variants.extend(match pairs {
                true => ["thread_tile/lanes_from_pairs", "thread_tile/keys_of_pairs", "thread_tile/store_four_pairs"],
                false => ["thread_tile/lanes_from_four", "thread_tile/lanes_from_four", "thread_tile/store_four"],
            });
        }
        variants.extend(match self.dtype.bytes() {
            8 => ["thread_tile/lanes64", "thread_tile/keys64", "thread_tile/keys64"],
            _ if self.dtype.is_float() => ["thread_tile/lanes32", "thread_tile/keys32", "thread_tile/keys_of_floats"],
            _ => ["thread_tile/lanes32", "thread_tile/keys32", "thread_tile/keys_of_integers"],
        });
        variants.extend(self.taps());
        if shifted && self.sink.index_type().is_none() {
            variants.push("thread_tile/values_kept");
        }
        variants.extend(match (pairs || self.sink.index_type().is_some(), self.dtype.is_float()) {
            (true, _) => ["thread_tile/places", "thread_tile/placed_maxima", "thread_tile/sure"],
            (false, true) => ["thread_tile/values", "thread_tile/doubtful_tile", "reduce/max_of_floats_in_lanes"],
            (false, false) => ["thread_tile/values", "thread_tile/sure", "reduce/max_of_integers_in_lanes"],
        });
        variants.push(match policy {
            NanPolicy::SeedLowest | NanPolicy::Ignore => "thread_tile/winner_perhaps",
            _ => "thread_tile/winner_always",
        });
        let by_fours = self.same_place && !one && !shifted;
        variants.extend(match self.sink.index_type() {
            None => ["thread_tile/indices_none"; 2],
            Some(IndexType::I32) if by_fours => ["thread_tile/indices", "thread_tile/put_indices_i32"],
            Some(IndexType::I64) if by_fours => ["thread_tile/indices", "thread_tile/put_indices_i64"],
            Some(_) => ["thread_tile/indices", "thread_tile/put_indices"],
        });
        variants
    }

    /// The parts that load taps, number them, and place maxima by these numbers.
    fn taps(&self) -> [&'static str; 3] {
        let window = &self.tile.window;
        let [.., dilation] = window.dilation;
        // Whether a key has room for a small number.
        let last = self.dtype.is_float() && window.nan_policy == NanPolicy::PropagateLast;
        let room = self.dtype.bytes() <= 2 && dilation == 1 && !last;
        let taps = match self.tile.span {
            Span::Channels | Span::One | Span::Word => {
                return ["thread_tile/taps_apart", "thread_tile/numbers_are_points", "reduce/placed_beside_keys"];
            }
            Span::Along { .. } => "thread_tile/taps_along",
            Span::Shifted { .. } => "thread_tile/taps_shifted",
        };
        match room {
            true => [taps, "thread_tile/numbers_in_tile", "reduce/placed_in_keys"],
            false => [taps, "thread_tile/numbers_in_plane", "reduce/placed_beside_keys"],
        }
    }

    fn consts(&self) -> Vec<(&'static str, u32)> {
        let tile = self.tile;
        let channels = match (tile.span, tile.inner) {
            (Span::Channels, _) => 4,
            (_, inner) => inner.into(),
        };
        let mut consts = tile.window.consts();
        consts.extend([
            ("LINES", tile.lines),
            ("LINES_BETWEEN", tile.lines_between),
            ("OUTPUTS_BETWEEN", tile.outputs_between),
            ("ROWS", tile.rows_of(tile.lines)),
            ("CHANNELS_INSIDE", channels),
            ("OUTPUTS_ALONG", if matches!(tile.span, Span::Along { .. } | Span::Shifted { .. }) { 4 } else { 1 }),
            ("CHANNELS_ALONG", tile.channels_along.into()),
            ("INDEX_MAP", self.index_map),
            ("SAME_PLACE", self.same_place.into()),
        ]);
        match tile.span {
            Span::Along { before, vectors, behind } => {
                let span = before.saturating_add(vectors).saturating_add(behind);
                consts.extend([("PAD_2", before), ("BEHIND", behind), ("SPAN", span)]);
            }
            Span::Shifted { elements, before, behind } => {
                consts.extend([("BEFORE", before), ("BEHIND", behind), ("SPAN", elements)]);
            }
            _ => {}
        }
        consts
    }
}

/// A pool of small windows by thread tiles.
pub(crate) fn thread_tile(key: &ThreadTileKey<'_>) -> KernelKey {
    let [depth, height, width] = key.tile.window.kernel;
    let (dtype, sink, lines) = (key.dtype.name(), key.sink.name(), key.tile.lines);
    let of = match key.tile.span {
        Span::Along { .. } => "four outputs",
        Span::Shifted { .. } => "four outputs across words",
        Span::Channels => "four channels",
        Span::One | Span::Word => "one output",
    };
    let entry = match key.tile.span {
        Span::Word => "kernel/pool_words",
        Span::Shifted { .. } => "kernel/pool_shared_words",
        _ => "kernel/pool_thread_tile",
    };
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
            format!("pool {dtype} to {sink}, {depth}x{height}x{width}, thread tile, {lines} lines of {of}"),
            entry,
        )
    }
    .into()
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
