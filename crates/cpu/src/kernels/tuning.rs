//! Tuning: the constants that decide which kernel runs and how much work it does at a time. Changing one may change
//! speed, and never results. Constants on which a kernel's correctness depends stand beside the code that uses them.
//!
//! # Costs
//!
//! Each kernel says how much work of several sorts a pool is for it, and the constants of the type [`Cost`] say how
//! many nanoseconds a unit of each takes: for values alone, and with indices. They were fitted to timings of every
//! kernel that applies to 1,400 geometries drawn at random (0.5 to 16 MB, all element types, 1 to 3 axes, both
//! layouts), in one thread of a Xeon, with AVX-512 and with AVX2, on data with NaN and without. What was minimised is
//! the time of the kernel that has the least cost, and only then the difference between costs and times, so a cost can
//! differ from the time of its work. `benches/RESULTS.md` says how good the choice is for other geometries.
//!
//! # Sizes
//!
//! A size that says no measurement was never varied by itself; it came with its kernel, which was measured as a whole.

/// Nanoseconds for a unit of work: for values alone, and with indices.
pub(super) type Cost = [f64; 2];

/// The bytes of the vectors in which costs are stated, whichever vectors the processor has.
pub(super) const VECTOR_BYTES: f64 = 32.0;

/// A byte of X, Y and Indices, where a minimum is the maximum of mirrored elements. Not fitted: 3x3 of images of 4 to
/// 16 MB, 0.05 to 0.08.
pub(super) const MIRRORED: Cost = [0.06, 0.06];

pub(super) mod general {
    use super::Cost;

    /// A tap of a window.
    pub const TAP: Cost = [4.8, 4.8];
    /// An output takes as long as so many taps besides its own.
    pub const OTHER_TAPS: f64 = 8.0;
}

pub(super) mod direct {
    use super::Cost;

    /// A byte of the tensors.
    pub const BYTE: Cost = [0.0077, 0.022];
    /// A group of rows.
    pub const GROUP: Cost = [83.0, 60.0];
    /// An output of a row at a border, in each group.
    pub const BORDER: Cost = [30.0, 50.0];
    /// A row of outputs.
    pub const ROW: Cost = [5.4, 9.6];
    /// A tap of a vector of outputs.
    pub const TAP: Cost = [0.3, 1.2];
    /// The same where neighbouring windows are several elements apart, in addition.
    pub const SORTED: Cost = [0.25, 0.0];
    /// The same for elements of 8 bits, which take several instructions to sort, in addition.
    pub const SORTED_8: Cost = [2.3, 1.3];
    /// The same for floats of 16 bits, in addition.
    pub const HALF: Cost = [0.75, 0.7];
    /// A tap of an output at a border, which shares a vector with those above and below it.
    pub const BORDER_TAP: Cost = [0.026, 0.0037];
    /// A tap of an output that shares no vector with others.
    pub const ALONE_TAP: Cost = [0.15, 0.24];
    /// A plane whose indices have another layout than its outputs: it is computed by itself.
    pub const PERMUTED_PLANE: Cost = [0.0, 980.0];

    /// The most taps of a row of a window.
    pub const MOST_OF_ROW: usize = 5;
    /// About the bytes of X that a group of rows reads: few enough to stay in cache for a second pass.
    pub const GROUP_BYTES: usize = 32 << 10;
    /// The fewest rows for which a vector holds one output of each row.
    pub const FEW_ROWS: usize = 4;
    /// The most groups of a plane that are kept for the following planes.
    pub const MOST_GROUPS: usize = 32;
}

pub(super) mod flat {
    use super::Cost;

    /// A byte of the tensors.
    pub const BYTE: Cost = [0.033, 0.0];
    /// A band of a plane, or of several small planes.
    pub const JOB: Cost = [220.0, 0.0];
    /// A row that is reduced by itself.
    pub const ROW: Cost = [8.5, 0.0];
    /// A tap of a vector along the rows.
    pub const TAP: Cost = [0.32, 0.0];
    /// A vector of X that is written as lanes first, because of padding or inverted bits. Like the next one, not fitted
    /// with the others.
    pub const LOADED: Cost = [0.6, 0.0];
    /// A row that is written as lanes by itself. Planes of 7x7 to 57x57: 14 to 21.
    pub const LOADED_ROW: Cost = [20.0, 0.0];
    /// A column of outputs at a border, in each band.
    pub const EDGE: Cost = [13.0, 0.0];
    /// A tap of a vector of 16-bit floats, in addition.
    pub const HALF: Cost = [0.85, 0.0];
    /// A vector of outputs of 8 bits that are picked from windows at all positions.
    pub const PICKED_8: Cost = [6.0, 0.0];

    /// The most taps of windows that are cut at the borders, each by itself. Of longer windows the padding is lanes.
    pub const MOST_AT_BORDERS: usize = 8;
    /// The largest stride along a row: windows at positions between two outputs are computed too, without use.
    pub const MOST_STRIDE: usize = 4;
    /// The most columns: each one costs time when a pool is prepared.
    pub const MOST_COLUMNS: usize = 1 << 20;
    /// The most rows that a window spans.
    pub const MOST_SPAN: usize = 128;
    /// About the bytes of a band's lanes. For rows of a gigabyte, 16 KB to 1 MB made no difference.
    pub const BAND_BYTES: usize = 256 << 10;
    /// About the bytes of a row of lanes if rows of outputs are longer. A row is cut only if it is more than twice as
    /// long.
    pub const ROW_BYTES: usize = 16 << 10;
    /// The most bytes of a band's lanes where [`ROWS_OF_SHARED`] needs more than [`BAND_BYTES`]; twice as many in rows
    /// that are not cut.
    pub const MOST_BYTES: usize = 1 << 20;
    /// The reduced rows at the end of a band are reduced again for the next band. A band has at least this many rows
    /// for each of them.
    pub const ROWS_OF_SHARED: usize = 3;
    /// About the bytes of small planes that are computed together.
    pub const AT_ONCE_BYTES: usize = 16 << 10;
    /// The fewest neighbouring lanes for which vector loops pay off.
    pub const FEW_LANES: usize = 16;

    /// The most reduced planes in the cache. Never varied.
    pub const MOST_KEPT: usize = 16;
}

pub(super) mod interleaved {
    use super::Cost;

    /// A byte of the tensors.
    pub const BYTE: Cost = [0.17, 0.00057];
    /// A vector of X or Y that is interleaved or separated.
    pub const MOVED: Cost = [0.0, 3.4];
    /// An output that is separated, and its index.
    pub const OUTPUT: Cost = [0.37, 1.3];
    /// The cost of the kernel that pools the interleaved planes. It reads them from the cache.
    pub const POOLED: Cost = [0.53, 1.1];

    /// The fewest bytes of neighbouring lanes: those of the longest vector. They also fill a vector of 32-bit indices.
    pub const LANE_BYTES: usize = 64;
    /// The most vectors of neighbouring lanes.
    pub const MOST_VECTORS: usize = 16;
    /// The most bytes of X, Y and Indices of a block of planes if lanes fill several vectors.
    pub const BLOCK_BYTES: usize = 32 << 10;
    /// The same if they fill one vector.
    pub const MOST_BYTES: usize = 256 << 10;
    /// The fewest blocks of planes if lanes fill several vectors, because lanes of the last block may have no plane.
    pub const FEWEST_BLOCKS: usize = 8;
}

pub(super) mod columns {
    use super::Cost;

    /// A byte of the tensors.
    pub const BYTE: Cost = [0.014, 0.049];
    /// A row of outputs.
    pub const ROW: Cost = [33.0, 32.0];
    /// A row of X that the windows of a row of outputs contain.
    pub const TAPS: Cost = [0.012, 2.5];
    /// A vector of columns that takes a row of X.
    pub const REDUCED: Cost = [1.0, 0.00068];
    /// An output.
    pub const OUTPUT: Cost = [2.0, 8.7];
    /// A column that is searched for an output.
    pub const SEARCHED: Cost = [0.34, 1.0];
    /// An output that is a column itself.
    pub const CHANNEL: Cost = [1.3, 5.0];
    /// A plane whose indices have another layout than its outputs: it is computed by itself.
    pub const PERMUTED_PLANE: Cost = [0.0, 660.0];
    /// A vector of 16-bit floats that takes a row of X, in addition.
    pub const HALF: Cost = [0.95, 0.62];

    /// The fewest channels for which the channels of one position are a row of columns. Fewer channels do not fill a
    /// vector. A row then has the channels of all positions along the last axis, and taps along this axis are as many
    /// columns apart as there are channels. Never varied.
    pub const CHANNELS: usize = 16;
    /// The rows of X that are reduced at a time: a chunk of columns is loaded and stored once for all of them. Never
    /// varied.
    pub const AT_ONCE: usize = 16;
    /// The largest mean width and spacing of windows, in columns, for which several output rows are searched at once.
    pub const NARROW: u64 = 16;
    /// The bytes of column maxima, interleaved ones included. Never varied.
    pub const KEPT_BYTES: usize = 128 << 10;
    /// The most rows of X in a list. Never varied.
    pub const MOST_LISTED: usize = 4096;
}

pub(super) mod global {
    use super::Cost;

    /// A byte of the tensors.
    pub const BYTE: Cost = [0.022, 0.024];
    /// A batch of small windows.
    pub const BATCH: Cost = [76.0, 190.0];
    /// A window in a batch.
    pub const IN_BATCH: Cost = [6.5, 3.9];
    /// A window that is computed by itself.
    pub const ALONE: Cost = [25.0, 74.0];
    /// A vector of a small window.
    pub const TAKEN: Cost = [0.0, 0.6];
    /// A vector of a long window that other windows have too. Measured: 0.4 to 1.0 for windows of 500 to 60,000
    /// elements.
    pub const AGAIN: Cost = [0.45, 0.5];

    /// The bytes of a block: few enough to stay in the first-level cache for the search.
    pub const BLOCK_BYTES: usize = 16 << 10;
    /// The fewest windows that are reduced as a batch of small windows.
    pub const FEW: usize = 4;

    /// The number of places of a batch that are read in turn. Never varied.
    pub const STREAMS: usize = 4;
}

pub(super) mod separable {
    use super::Cost;

    /// A byte of the tensors.
    pub const BYTE: Cost = [0.0039, 0.01];
    /// A step along the rows of a block.
    pub const STEP: Cost = [540.0, 0.25];
    /// A phase of a row.
    pub const ROW: Cost = [18.0, 24.0];
    /// A vector of lanes that is loaded.
    pub const LOADED: Cost = [3.1, 3.3];
    /// A tap of a vector.
    pub const REDUCED: Cost = [0.43, 0.48];
    /// A position that is loaded by itself because of a stride.
    pub const GATHERED: Cost = [0.2, 0.24];
    /// An output.
    pub const OUTPUT: Cost = [0.0, 1.7];
    /// A plane whose indices have another layout than its outputs: it is computed by itself.
    pub const PERMUTED_PLANE: Cost = [0.0, 1_900.0];
    /// A vector of 16-bit floats that is loaded or takes a tap, in addition.
    pub const HALF: Cost = [2.2, 0.6];

    /// About the lanes of rows that are loaded together. If there are too few, they are read again before their stores
    /// have reached the cache, and a load that spans two of these stores has to wait. Never varied.
    pub const LOADED_AT_ONCE: usize = 4096;
    /// Windows with more taps than this are reduced in several steps. Each step covers up to four times as many taps as
    /// the one before, so that the cost grows with the logarithm of the window. Never varied.
    pub const DIRECT: usize = 5;
    /// The most elements that a window may span for the smallest size to be used. Never varied.
    pub const FAR_HALO: usize = 128;
    /// The most outputs that the last step computes at once. Never varied.
    pub const OUTPUTS_AT_ONCE: usize = 2048;

    /// The size of a block.
    pub struct Size {
        /// The bytes of its lanes.
        pub bytes: usize,
        /// The most bytes of its outputs along the innermost axis.
        pub row_bytes: usize,
        /// The room reserved for axes whose extents are not yet chosen, in lengths of a window.
        pub windows: usize,
        /// The largest mean number of times that a block of this size loads an element, or else it is larger. Never
        /// varied for the smaller sizes; boxes of 63x63 on NHWC f64 took 8 times as long with 3 for the third one.
        pub most_loads: f64,
    }

    /// The size of blocks of small windows. Never varied by itself.
    pub const NEAR: Size = Size { bytes: 48 << 10, row_bytes: 8 << 10, windows: 1, most_loads: 3.0 };
    /// The sizes, the smallest one first. The later sizes are for windows that reach so far that a block of a smaller
    /// size has little more than one window. Where the last one has not, blocks have the room that it reserves.
    pub const SIZES: [Size; 4] = [
        NEAR,
        Size { bytes: 320 << 10, row_bytes: 2 << 10, windows: 3, most_loads: 3.0 },
        Size { bytes: 2 << 20, row_bytes: 2 << 10, windows: 3, most_loads: 1.5 },
        Size { bytes: 16 << 20, row_bytes: 2 << 10, windows: 3, most_loads: 1.5 },
    ];
}

pub(super) mod threads {
    /// About the bytes that a thread copies in a nanosecond: work is stated as bytes that could be copied meanwhile.
    pub const BYTES_OF_NANOSECOND: f64 = 10.0;
    /// The most bytes of work that one thread does by itself: those of about 100 microseconds. Waking another thread
    /// takes about 20, so below some 70 two threads save less than a fifth of the time. Never varied.
    pub const ALONE_BYTES: u64 = 1 << 20;
    /// The most bytes of work between two checks of the cancel flag. Never varied.
    pub const MOST_BYTES: u64 = 4 << 20;
    /// The bytes of indices that are computed before they are moved to their layout. Never varied.
    pub const PERMUTED_BYTES: usize = 256 << 10;
    /// The bytes of elements that a thread mirrors at a time, for minima. Never varied.
    pub const MIRRORED_BYTES: usize = 1 << 20;
}

pub(super) mod unpool {
    /// The bytes of indices that are checked and then used while they are in the first-level cache. Never varied.
    pub const LOOKED_AT_BYTES: usize = 8 << 10;
    /// The bytes of zeros that are written beyond the element that an index names. Long runs of zeros are written
    /// faster, and this length is still in the second-level cache when elements replace them. No other value is
    /// recorded.
    pub const AHEAD_BYTES: usize = 128 << 10;
    /// The positions whose indices are read together: sixteen cache lines of 64-bit indices per plane. The processor
    /// prefetches most of these lines, and the first ones of the next positions. With 64
    /// positions an unpool of NHWC took 1.05 to 1.3 of the time, with 16 twice as long.
    pub const POSITIONS: usize = 128;
    /// The most channels whose places are computed together. Their places at a few positions fit in the first-level
    /// cache. Never varied.
    pub const CHANNELS: usize = 128;
}

pub(super) mod own_windows {
    /// The sources that are compared together. Never varied.
    pub const TOGETHER: usize = 64;
    /// The most rows of a window that indices are compared with; the general kernel computes unpools with more. No
    /// other value was measured.
    pub const MOST_ROWS: u64 = 64;
}
