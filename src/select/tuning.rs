//! Tuning: the constants that decide which kernel runs and how much work an invocation does. Changing one may change
//! speed, and never results. Constants on which a kernel's correctness depends stand beside the schedule that uses
//! them, and so does the bound of one that may not grow further: the library does not compile beyond it.
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
}

/// What a schedule costs (src/select/cost.rs).
pub(super) mod cost {
    /// What dispatches take on a device, in seconds.
    pub struct DeviceCosts {
        pub launch: f64,
        /// A byte, a vector operation and a line of cache, where the device is full.
        pub byte: f64,
        pub operation: f64,
        pub line: f64,
        /// The wait for a load.
        pub wait: f64,
        /// The fewest invocations that fill the device with operations.
        pub invocations: f64,
        /// How sharply the slowest part decides.
        pub power: i32,
    }

    /// Card: bandwidth and launch from copies, operations from twelve rows by the counts of AMD's compiler, a line a
    /// cycle for each of 132 multiprocessors. A wait: stages that read 64 candidates one after the other take 0.7 us
    /// for each, and `adaptive_3d`, whose invocations wait 200 times, 142 us in all.
    pub const GPU: DeviceCosts = DeviceCosts {
        launch: 2.5e-6,
        byte: 1.0 / 3.05e12,
        operation: 1.0 / 13.4e12,
        line: 1.0 / 2.6e11,
        wait: 0.6e-6,
        invocations: 32_768.0,
        power: 5,
    };

    /// Software: fitted to the timings of all families, 76 pools of 0.4 to 2 MB drawn at random. An invocation does not
    /// wait.
    pub const SOFTWARE: DeviceCosts = DeviceCosts {
        launch: 50e-6,
        byte: 1.0 / 2.5e9,
        operation: 1.0 / 14.5e9,
        line: 1.0 / 1e9,
        wait: 0.0,
        invocations: 0.0,
        power: 1,
    };

    /// A schedule of up to this multiple of the time for its bytes ends the search for a faster one.
    pub const NEARLY: f64 = 1.05;

    // Vector operations, by AMD's compiler: fitted to the kernels of 480 pools drawn at random, in four types.

    /// An element that is compared with a maximum: 12 to 17 in windows that are read tap by tap.
    pub const OPS_PER_TAP: f64 = 14.0;
    pub const OPS_PER_TAP_OF_64_BITS: f64 = 20.0;

    /// A window that is read tap by tap, whatever its size: 54 to 88.
    pub const OPS_PER_WINDOW: f64 = 80.0;

    /// Cost of a candidate of the pass before, relative to an element. Measured: 1.5 to 3.3.
    pub const CANDIDATE_FACTOR: f64 = 2.25;

    /// The same on software adapters: passes over candidates take twice what operations predict.
    pub const CANDIDATE_FACTOR_OF_SOFTWARE: f64 = 4.5;

    /// A digit of an index: 10 to 16 in sliding windows, 4 to 8 in thread tiles.
    pub const OPS_PER_DIGIT: f64 = 10.0;

    /// What the members of a team do beside their elements, twice as much with indices: 407 to 680, 946 to 1,340. Half
    /// as much without indices where one invocation reads a plane: 76 to 247.
    pub const OPS_PER_TEAM: f64 = 500.0;

    /// Cost of an element that a team reads, relative to `OPS_PER_TAP`. Measured: 0.6 to 1.
    pub const TEAM_FACTOR: f64 = 0.8;

    /// Loads of a team that are in flight together.
    pub const LOADS_TOGETHER: f64 = 4.0;

    /// Loads of a thread tile that are in flight together: it has no loops. Never varied.
    pub const TILE_LOADS_TOGETHER: f64 = 12.0;

    /// An output of a thread tile or of sliding windows, whatever its window: 20 to 40.
    pub const OPS_PER_OUTPUT: f64 = 25.0;

    /// Cost of an element of a thread tile, relative to `OPS_PER_TAP`: with vectors of four outputs, one output at a
    /// time, the outputs of a word, and in lines that are not whole words.
    pub const FOURS_FACTOR: f64 = 0.3;
    pub const ONE_OUTPUT_FACTOR: f64 = 0.7;
    pub const WORD_FACTOR: f64 = 1.3;
    pub const SHIFTED_FACTOR: f64 = 1.0;

    /// `FOURS_FACTOR` on software adapters, 5x5 and 7x7.
    pub const FOURS_FACTOR_OF_SOFTWARE: f64 = 1.4;

    /// An output of a strip, twice as much with indices: 50 to 70.
    pub const OPS_PER_STRIP_OUTPUT: f64 = 60.0;
}

/// Windows that are cut along an axis.
pub(super) mod view {
    /// Taps of a part: the separable family cuts longer windows into parts. Never varied: six such parts stay below the
    /// most iterations of an invocation.
    pub const PART_TAPS: u64 = 1_024;
}

/// Whole planes in two dispatches.
pub(super) mod reduce {
    /// Smaller planes are not selected to be reduced: one team reads them in less time than a second dispatch takes to
    /// start.
    pub const REDUCED_FROM: u64 = 1_024;

    /// The most bytes of a part of a plane, which a workgroup reduces to a candidate: 2 KiB an invocation. Card, with
    /// several dispatches for the candidates: planes of 512x512 took 1.35 copies with 1 KiB, 1.27 with 2 KiB.
    pub const MOST_BYTES: u64 = 128 << 10;

    /// The fewest: 16 loads of every invocation. AMD, planes of 1,500 to 20,000 bytes: with 4 KiB to a part, 1.1 to 2.4
    /// times as many operations, most of them to join what invocations have found.
    pub const FEWEST_BYTES: u64 = 16 << 10;

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
}

/// Unpools.
pub(super) mod unpool {
    /// The most invocations of a step that mostly has nothing to do. Never varied: enough to fill a large card.
    pub const IDLE_INVOCATIONS: u64 = 1 << 17;

    /// The same on software adapters, where each workgroup of a kernel with barriers takes microseconds. Software,
    /// 2x2s2 of 8 MB: 4.3 copies with 2^17, 1.3 with 2^10.
    pub const IDLE_INVOCATIONS_OF_SOFTWARE: u64 = 1 << 10;

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
