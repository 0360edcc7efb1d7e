//! Tuning: the constants that decide which kernel runs and how much work an invocation does. Changing one may change
//! speed, and never results. Constants on which a kernel's correctness depends stand beside the schedule that uses
//! them.
//!
//! Each constant names the measurement behind it, with times in multiples of a copy in the same run. *Software* is
//! llvmpipe of Mesa 22.3; *card* is an NVIDIA H100; *AMD* is Mesa's compiler for RDNA 2 and 3 without a card. A
//! constant that was never varied says so.
//!
//! Some constants are different on software adapters (`Limits::software`), which run kernels differently. A GPU reads
//! memory for 32 or more neighbouring invocations at once, which costs least where neighbours read neighbouring vectors
//! of 16 bytes, and it needs 10^5 invocations to be busy. A CPU runs a few invocations at a time, each of which reads
//! for itself, so the fewest instructions for each element are best.

/// Which family and build a plan takes.
pub(super) mod policy {
    /// Pools and unpools of fewer elements run in the generic build. Software: compiling a kernel takes 0.1 to 0.4
    /// seconds of CPU time, more than so few elements save.
    pub const SPECIALISED_FROM: u64 = 1 << 12;

    /// Planes of fewer elements are reduced in one stage. Software: for smaller planes a second stage takes longer than
    /// the first stage saves.
    pub const REDUCED_FROM: u64 = 4_096;

    /// Windows of fewer taps are pooled tap by tap, even where neighbours share most taps. Software: 5x5 takes 2.7
    /// copies by thread tiles, and large windows take 4.8 to 5.3 by sliding, whatever their size.
    pub const SLIDING_FROM: u64 = 30;

    /// The same threshold for windows with taps along one axis only: they slide in one pass, which is half of the work.
    pub const SLIDING_ALONG_ONE_FROM: u64 = 10;

    /// Overlapping windows that the thread tile family refuses slide from this number of taps on. Software, in sweeps
    /// of random geometries: from here on sliding was faster than reading every tap.
    pub const SLIDING_INSTEAD_FROM: u64 = 6;

    /// Windows of more taps that overlap always slide.
    pub const MOST_TAPS: u64 = 64;

    /// On GPUs, windows with longer strides are pooled along one axis after the other before sliding is tried, unless
    /// elements are bytes. Card, 7 random pools with strides of 3 to 8: separable took 0.24 to 0.93 of the time of
    /// sliding, median 0.82, and 1.65 for one of bytes. With a stride of 2 it took 0.48 to 1.72, median of 13 pools
    /// 1.25. With a stride of 1 it was faster in 3 of 18.
    pub const SLIDING_STRIDE: i64 = 2;

    /// On GPUs windows of at least this many taps along two axes or more are pooled along one axis after the other,
    /// where there are fewer than `FEW_WINDOWS`: an invocation for each window leaves the device idle. Card, 9 random
    /// pools with 108 to 3,120 taps: separable took 0.18 to 0.79 of the time of direct, median 0.33; two pools with 75
    /// taps took 1.5 and 1.7. Teams took 5 to 8 copies for windows of f16 with rows of 40 and 60 bytes, and as long as
    /// separable for u64 with rows of 232 bytes.
    pub const SEPARABLE_FROM: u64 = 100;

    /// Fewer windows than this are few for a GPU.
    pub const FEW_WINDOWS: u64 = 1 << 16;

    /// On GPUs windows whose stride along a row is at least this are pooled tap by tap.
    pub const FAR_STRIDE: i64 = 5;

    /// The same for windows with strides of 3 or more in rows of fewer outputs.
    pub const SHORT_ROW: usize = 8;
}

/// Windows that are cut along an axis.
pub(super) mod view {
    /// Taps of a part: the separable family cuts longer windows into parts. Never varied: six such parts stay below the
    /// most iterations of an invocation.
    pub const PART_TAPS: u64 = 1_024;
}

/// Whole planes in two dispatches.
pub(super) mod reduce {
    /// The most bytes of a part of a plane, which a workgroup reduces to a candidate: 2 KiB an invocation. Card, with
    /// several dispatches for the candidates: planes of 512x512 took 1.35 copies with 1 KiB, 1.27 with 2 KiB.
    pub const MOST_BYTES: u64 = 128 << 10;

    /// The fewest: four loads of every invocation, which are in flight together.
    pub const FEWEST_BYTES: u64 = 4 << 10;

    /// Parts that fill a large card, 2^17 invocations. Never varied.
    pub const PARTS: u64 = 1 << 11;

    /// The same for software adapters. Software, a volume of 8 MB: 1.05 copies with 16, 1.2 with 64, 2.8 with 512.
    pub const PARTS_OF_SOFTWARE: u64 = 1 << 4;

    /// Invocations that share a slice of a part: all of the workgroup, so that it reads a part from front to back.
    pub const MEMBERS: u32 = 64;

    /// The same on software adapters, where those that run at a time are to read from front to back. Software, a volume
    /// of 8 MB, in 64 parts: 1.2 copies with 8, 4.3 with 64.
    pub const MEMBERS_OF_SOFTWARE: u32 = 8;
}

/// Small windows by thread tiles.
pub(super) mod thread_tile {
    /// The most taps of a window. For larger windows, families whose cost grows with the kernel's extents instead of
    /// its taps are faster.
    pub const MOST_TAPS: u64 = 64;

    /// The same where an invocation computes the outputs of a word one by one. AMD, windows of 10 and 25 bytes: 11.9
    /// and 17.5 copies are predicted, and 6.7 and 6.4 by sliding.
    pub const MOST_TAPS_OF_A_WORD: u64 = 9;

    /// The most lines of outputs of a thread tile in rows that are not whole words, where there are enough outputs to
    /// fill the device. Software, 3x3s1 in rows of whole words: one line 3.0 copies, four 2.2, eight 2.0, sixteen 1.8.
    pub const TALLEST: u64 = 16;

    /// Invocations that fill a GPU: with fewer, tiles are lower. Never varied.
    pub const INVOCATIONS: u64 = 1 << 16;

    /// The same for software adapters.
    pub const INVOCATIONS_OF_SOFTWARE: u64 = 1 << 12;

    /// With fewer tiles in a row, tiles whose windows share no line are one line high. AMD, 2x2s2 in rows of 8 elements
    /// with tiles of one and four lines: 16 and 32 lines of cache a load.
    pub const NARROW: u64 = 8;

    /// Words of registers that the maxima of the lines of X may take which a thread tile spans. AMD: 72 took up to 128
    /// registers, 80 took 136.
    pub const MOST_WORDS_OF_LINES: u32 = 72;

    /// The same for one line of outputs. With more, windows slide: AMD, 5x5 of f64 take 192 operations an output with
    /// 72, and 121 by sliding.
    pub const MOST_WORDS_OF_A_LINE: u32 = 64;

    /// The same where lines are not whole words. AMD: more took over 128 registers.
    pub const MOST_WORDS: u32 = 80;

    /// The same for an invocation with four neighbouring outputs, the minimum. AMD took 168 registers for 120 words,
    /// and 104 for 72.
    pub const MOST_WORDS_OF_A_QUAD: u32 = 96;

    /// The most quads of an invocation in rows that are not whole words, for 16-bit floats with indices. On llvmpipe 3
    /// were 5 % faster at most, and Microsoft's FXC took twice as long for them.
    pub const MOST_QUADS_OF_HALVES: u32 = 2;
}

/// Large windows that slide.
pub(super) mod sliding {
    /// Words of registers for the accumulators of an invocation's windows. AMD: more took over 128 registers.
    pub const MOST_WORDS: u64 = 80;

    /// The same on GPUs where windows of 32-bit elements carry positions. Card, 13x13 with i64 indices: eight windows
    /// of four lanes take 3.9 copies, four windows 2.8. AMD, f16: more arithmetic than with 80.
    pub const MOST_WORDS_WITH_PLACES: u64 = 40;

    /// From this many windows per invocation on (at most 16), further lanes save more than further windows: the loads
    /// per output fall from K + 1 to (K + 7) / 8 for eight windows and to (K + 15) / 16 for sixteen.
    pub const GOOD_RUN: u64 = 8;

    /// Planes are pooled in groups whose scratch memory has this size where possible: each dispatch has as many planes
    /// as this memory holds. Card, 16, 64 and 256 MiB: 13x13 3.5, 2.8 and 2.8 copies, 31x31 8.4, 7.0 and 6.5. Software
    /// does not differ.
    pub const CACHE_BYTES: u64 = 64 << 20;
}

/// Large windows that slide, by strips.
pub(super) mod strip {
    /// The most blocks of lines of a strip. A strip reads one block more, so longer strips read fewer lines twice, and
    /// leave fewer invocations.
    pub const MOST_BLOCKS: u64 = 8;

    /// Invocations that fill a GPU: with fewer, strips are shorter. Never varied.
    pub const INVOCATIONS: u64 = 1 << 16;
}

/// Windows pooled by teams of invocations.
pub(super) mod team {
    /// Pairs of a number of loads per plane and the team's size from that number on, a power of two. Larger teams
    /// coalesce more reads, but each member's candidate is written and read once more. Software: measured with planes
    /// of 7x7 to 64x64.
    pub const MEMBERS: [(u64, u32); 3] = [(256, 8), (129, 4), (33, 2)];

    /// The most invocations that share a row: together they read 64 bytes at a time.
    pub const MOST_ALONG: u64 = 4;

    /// The fewest loads of a row per invocation.
    pub const LEAST_LOADS_OF_ROW: u64 = 2;

    /// The most invocations among which the rows of a window are divided.
    pub const MOST_APART: u64 = 4;

    /// The fewest loads of a window per invocation that shares its rows.
    pub const LEAST_LOADS: u64 = 256;

    /// Planes of fewer 4-byte elements are pooled tap by tap. Software: planes of 12 elements take 2.5 copies by teams
    /// and 2.6 tap by tap; planes of 16 elements take 1.9 and 2.4. By thread tiles both take 6, since a tile has one
    /// output.
    pub const LEAST_ELEMENTS_OF_WORDS: u64 = 16;

    /// The same for other element sizes. Software, in u8, f16 and f64: with 36 elements tap by tap is faster, with 49
    /// elements teams are faster.
    pub const LEAST_ELEMENTS: u64 = 40;

    /// The fewest bytes of a row for which teams are preferred, for elements of a word or more. In shorter rows, too
    /// large a share of each load lies beyond the row's ends.
    pub const LEAST_ROW_BYTES: u64 = 128;

    /// The same for elements smaller than a word, each of which would take a load of its own in a tap-by-tap kernel.
    pub const LEAST_ROW_BYTES_OF_SMALL: u64 = 32;

    /// Windows of fewer taps that are not whole planes are better pooled by one invocation.
    pub const LEAST_TAPS: u64 = 256;
}

/// Unpools.
pub(super) mod unpool {
    /// The most invocations of a step that mostly has nothing to do. Never varied: enough to fill a large card.
    pub const IDLE_INVOCATIONS: u64 = 1 << 17;

    /// The most elements of a stride cell. With larger cells, neighbouring invocations write too far apart.
    pub const MOST_PLACES: u64 = 64;

    /// The largest stride of overlapping windows: the results of a stride cell stay in registers.
    pub const MOST_STRIDE_OF_OVERLAPS: u64 = 4;

    /// Quads of cells that an invocation writes beside each other on software adapters, where windows do not overlap;
    /// one on GPUs. Software, 2x2s2: 1.05 copies with two, 1.18 with one. Card: 3.1 and 1.7.
    pub const QUADS_OF_SOFTWARE: u64 = 2;

    /// Lines of cells that an invocation writes on software adapters, where windows overlap; one on GPUs. Software,
    /// 3x3s2: 1.86 copies with four, 2.11 with one. Card: 1.8 and 1.6.
    pub const LINES_OF_SOFTWARE: u64 = 4;
}
