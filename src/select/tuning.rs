//! Tuning: numbers that decide which kernel runs and how much an invocation does. Any of them may be changed; that may change
//! speed, and never results. What a number must be for a kernel to be right stands beside the schedule that uses it.
//!
//! Each says what set it. *Software* is llvmpipe of Mesa 22.3, whose times are those of a copy in the same run; *AMD* is Mesa's
//! compiler for RDNA 2 and 3 without a card. What was never varied says so.

/// Which family and build a plan takes.
pub(super) mod policy {
    /// Pools and unpools of fewer elements run in the generic build: compiling a kernel takes 0.1 to 0.4 seconds of CPU on software,
    /// and computing 4096 elements less than a thousandth of that.
    pub const SPECIALISED_FROM: u64 = 1 << 12;

    /// Planes of fewer elements are reduced in one stage. Software: below, the second stage takes longer than the first saves.
    pub const REDUCED_FROM: u64 = 4_096;

    /// Windows of fewer taps are looked at as a whole, even where they share most of them. Software: 5x5 takes 2.7 copies in blocks,
    /// and large windows take 4.8 to 5.3 by sliding, whatever their size.
    pub const SLIDING_FROM: u64 = 30;

    /// The same of windows that extend along one axis alone, which slide in one pass, half of the work.
    pub const SLIDING_ALONG_ONE_FROM: u64 = 10;

    /// Taps from which windows that overlap slide where no block takes them. Software, in sweeps of random geometries: from here on
    /// sliding was faster than looking at every tap.
    pub const SLIDING_INSTEAD_FROM: u64 = 6;

    /// Windows of more taps are never looked at tap by tap where they share any.
    pub const MOST_TAPS: u64 = 64;
}

/// Windows that are cut along an axis.
pub(super) mod view {
    /// The separable family cuts longer windows. Never varied: seven such parts stay below the most iterations of an invocation.
    pub const PART_TAPS: u64 = 1_024;
}

/// Whole planes in stages.
pub(super) mod reduce {
    /// Bytes that an invocation reads: its candidate of eight bytes is little beside them.
    pub const MANY_BYTES: u64 = 1_024;

    /// The same where there are not enough invocations to occupy a device.
    pub const FEW_BYTES: u64 = 256;

    /// Invocations that occupy a large card. Never varied.
    pub const INVOCATIONS: u64 = 1 << 17;

    /// Candidates among which an invocation of a later stage chooses. Never varied.
    pub const CHOICE: u64 = 64;
}

/// Small windows in blocks and walks.
pub(super) mod rows {
    /// The most taps of a window: beyond, families whose cost grows with the extents of a kernel and not with its taps win.
    pub const MOST_TAPS: u64 = 64;

    /// Lines of outputs that an invocation walks down, where there are enough outputs to occupy a device. Software, 3x3s1: one line
    /// 3.0 copies, four 2.2, eight 2.0, sixteen 1.8.
    pub const LONGEST_WALK: u64 = 16;

    /// The same where lines lie far apart: caches and what loads ahead of them follow few lines at once. Software, NHWC with 64
    /// channels of 56x56, 3x3s1: 4.6 copies with sixteen lines, 2.7 with eight.
    pub const LONGEST_WALK_APART: u64 = 8;

    /// Bytes from line to line that are far apart.
    pub const FAR_APART: u64 = 2_048;

    /// Invocations that occupy a device: with fewer, walks are shorter. Never varied on a card.
    pub const INVOCATIONS: u64 = 1 << 12;

    /// Words of registers that the maxima of all lines of an invocation may take. AMD: more took over 128 registers.
    pub const MOST_WORDS: u32 = 80;

    /// The same of four neighbouring outputs, the fewest that an invocation has. AMD took 168 registers for 120 words, and 104 for 72.
    pub const MOST_WORDS_OF_A_QUAD: u32 = 96;

    /// Planes whose invocations at the ends of odd rows come together (shaders/kernel/pool_odd_rows.wgsl), so that few of them
    /// share a wave with others.
    pub const PLANES_OF_A_GROUP: u64 = 16;
}

/// Large windows that slide.
pub(super) mod sliding {
    /// Words of registers that the begins of the windows of an invocation may take. AMD: more took over 128 registers.
    pub const MOST_WORDS: u64 = 80;

    /// Windows of an invocation from which more lanes are worth more than more windows: loads an output fall from K + 1 to
    /// (K + 7) / 8 for eight windows and to (K + 15) / 16 for sixteen.
    pub const GOOD_RUN: u64 = 8;

    /// Planes are taken in groups whose scratch memory stays in a cache of this size, if it can. Never varied on a card; the L2 of
    /// large ones has 4 to 96 MiB.
    pub const CACHE_BYTES: u64 = 16 << 20;

    /// Elements that a pass along the innermost axis may load beside those that it needs.
    pub const FOURS: u64 = 8;
}

/// Windows that teams of invocations share.
pub(super) mod team {
    /// The invocations that share a plane of so many loads or more: the more they are, the more neighbours read together, but what
    /// each finds has to be written and read once more. Software: set by planes of 7x7 to 64x64.
    pub const MEMBERS: [(u64, u32); 3] = [(256, 8), (129, 4), (33, 2)];

    /// Invocations that share a row, at the most, so that what they read together is 64 bytes.
    pub const MOST_ALONG: u64 = 4;

    /// Loads that each of them finds there.
    pub const LEAST_LOADS_OF_ROW: u64 = 2;

    /// Invocations that take rows of a window in turn, at the most.
    pub const MOST_APART: u64 = 4;

    /// Loads of a window for each of them.
    pub const LEAST_LOADS: u64 = 256;

    /// Planes of fewer elements of a word are looked at tap by tap. Software: at 12 elements teams take 2.5 copies, at 16 1.9, and
    /// tap by tap it is 2.6 and 2.4; blocks take 6, since they compute one output each.
    pub const LEAST_ELEMENTS_OF_WORDS: u64 = 16;

    /// The same of smaller and larger elements. Software: at 36 elements tap by tap is faster in u8, f16 and f64, at 49 teams are.
    pub const LEAST_ELEMENTS: u64 = 40;

    /// Rows of fewer bytes begin and end within too many of their loads: of elements of a word or more.
    pub const LEAST_ROW_BYTES: u64 = 128;

    /// The same of smaller elements, which take a load each where they are looked at one by one.
    pub const LEAST_ROW_BYTES_OF_SMALL: u64 = 32;

    /// Other windows of fewer taps are better looked at by one invocation.
    pub const LEAST_TAPS: u64 = 256;
}

/// Unpools.
pub(super) mod unpool {
    /// The most elements of a stride cell: beyond, neighbouring invocations write too far apart.
    pub const MOST_PLACES: u64 = 64;

    /// The largest stride where windows overlap: the results of a cell are kept in registers.
    pub const MOST_STRIDE_OF_OVERLAPS: u64 = 4;
}
