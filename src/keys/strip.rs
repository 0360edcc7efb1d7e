//! Constructor of the kernels for large windows, in which eight invocations compute a strip of Y.

use wgpu_pooling_plan::internal::Reduction;
use wgpu_pooling_plan::{DType, NanPolicy};

use super::thread_tile::by_fours;
use crate::kernel::{ActivationKind, IndexDigits, Kernel, Sink, WindowConstants, count_digits};
use crate::wgsl::key::KernelKey;

/// The properties that determine such a kernel.
pub(crate) struct StripKey {
    pub reduction: Reduction,
    pub dtype: DType,
    pub sink: Sink,
    pub activation: ActivationKind,
    pub window: WindowConstants,
    /// Blocks of lines in a strip.
    pub blocks: u32,
    /// Whether channels lie inside the last axis.
    pub inner: bool,
    /// Channels whose elements share words, and strips for them; one where no word has two channels.
    pub group: [u32; 2],
    /// Whether lines are whole vectors of four elements.
    pub by_fours: bool,
    /// Whether all windows that reach beyond an end of a line hold the last vector before it.
    pub held: bool,
    /// Maxima of a strip's line in workgroup memory.
    pub columns: u32,
    /// The number of the conversion from a position to an index (shaders/thread_tile/indices.wgsl).
    pub index_map: u32,
    /// Whether indices are written in the order of Y.
    pub same_place: bool,
    /// The numbers of digits, where indices or their places are computed by digits.
    pub index_digits: Option<IndexDigits>,
}

/// Whether the key of an element has room for the number of a tap.
pub(crate) fn has_room(dtype: DType, policy: NanPolicy) -> bool {
    dtype.bytes() <= 2 && (!dtype.is_float() || policy != NanPolicy::PropagateLast)
}

impl StripKey {
    fn variants(&self) -> Vec<&'static str> {
        let (float, policy) = (self.dtype.is_float(), self.window.nan_policy);
        let mut variants = vec!["core/pool", "window/policy", "thread_tile/one_lane", "thread_tile/lanes32"];
        variants.extend(["thread_tile/keys32", "thread_tile/tile_outcome", "strip/numbers"]);
        variants.extend(match float {
            true => ["strip/lowest_float", "thread_tile/keys_of_floats"],
            false => ["strip/lowest_integer", "thread_tile/keys_of_integers"],
        });
        if self.by_fours {
            variants.extend(by_fours(self.dtype).iter().filter(|part| !part.contains("output")));
            variants.push("strip/taps_by_fours");
        } else {
            variants.extend(["thread_tile/ones", "thread_tile/one_at_once", "strip/taps_by_ones"]);
        }
        variants.extend(match (self.sink.index_type(), float) {
            (Some(_), true) => ["strip/turns_of_places", "strip/settled_places", "thread_tile/placed_maxima"],
            (Some(_), false) => ["strip/turns_sure", "strip/settled_places", "thread_tile/placed_maxima"],
            (None, true) => ["strip/turns_doubtful", "strip/settled_floats", "reduce/max_of_floats_in_lanes"],
            (None, false) => ["strip/turns_sure", "strip/settled_integers", "reduce/max_of_integers_in_lanes"],
        });
        variants.extend(match self.sink.index_type() {
            None => ["strip/kept_lanes"; 2],
            Some(_) if has_room(self.dtype, policy) => ["strip/kept_in_keys", "reduce/placed_in_keys"],
            Some(_) => ["strip/kept_beside_keys", "reduce/placed_beside_keys"],
        });
        variants.push(match policy {
            NanPolicy::SeedLowest | NanPolicy::Ignore => "thread_tile/winner_perhaps",
            _ => "thread_tile/winner_always",
        });
        variants.extend(match self.sink.index_type() {
            None => ["thread_tile/indices_none"; 2],
            Some(_) => ["thread_tile/indices", "thread_tile/put_indices"],
        });
        variants
    }

    fn consts(&self) -> Vec<(&'static str, u32)> {
        let ([_, lines, columns], [.., pad]) = (self.window.kernel, self.window.pad_begin);
        // Vectors begin at multiples of four columns, and the first window of a strip does not.
        let before = if self.by_fours { pad.wrapping_neg().rem_euclid(4) as u32 } else { 0 };
        let taps = columns.saturating_add(7).saturating_add(before);
        let mut consts = self.window.consts();
        consts.extend([
            ("BLOCKS", self.blocks),
            ("LINES", self.blocks.saturating_mul(lines)),
            ("LINES_BETWEEN", 1),
            ("OUTPUTS_BETWEEN", 1),
            ("OUTPUTS_ALONG", 8),
            ("CHANNELS_INSIDE", self.inner.into()),
            ("CHANNELS_ALONG", 0),
            ("INDEX_MAP", self.index_map),
            ("SAME_PLACE", self.same_place.into()),
            ("GROUP", self.group[0]),
            ("STRIPS_OF_A_GROUP", self.group[1]),
            ("COLUMNS", self.columns),
            ("DIRECT", (self.dtype.bytes() == 4 && self.sink.index_type().is_none()).into()),
            ("HELD", (self.held && self.sink.index_type().is_none()).into()),
            ("BEFORE", before),
            ("TAPS", if self.by_fours { taps.next_multiple_of(4) } else { taps }),
        ]);
        consts
    }
}

/// A pool of large windows that slide by one element, by strips.
pub(crate) fn strip(key: &StripKey) -> KernelKey {
    let [depth, height, width] = key.window.kernel;
    let (dtype, sink, blocks) = (key.dtype.name(), key.sink.name(), key.blocks);
    let loads = if key.by_fours { "vectors" } else { "elements" };
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
            format!("pool {dtype} to {sink}, {depth}x{height}x{width}, strips of {blocks} blocks, {loads}"),
            "kernel/pool_strip",
        )
    }
    .into()
}
