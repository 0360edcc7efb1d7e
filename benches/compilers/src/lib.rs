//! The crate's kernels, judged by the compilers of real GPUs on a machine without one.
//!
//! * `radv`: AMD's, from Mesa. Registers, spills, waves, and arithmetic against memory time, of every row of the crate's catalogue.
//! * `microsoft`: FXC and DXC, which every kernel has to get through on Windows, in time.
//!
//! # How loops are counted
//!
//! The driver's own estimate has one number for all loops. Here every loop that is left in the compiled kernel is traced to the loop
//! of the text that it comes from (`marks`), and runs as often as the text says (`trips`): from constants, or, for the loops over a
//! window's taps, from the prelude's. Where the bound stands in a uniform the count is not known, and what bounds it is the schedule:
//! `Dispatch::iterations` is the most that all loops of an invocation come to. All that is left of it goes to the heaviest of those
//! loops, and the figure says "at most".
//!
//! What a wave executes is the heaviest way through the control flow (`path`) with Mesa's cycles for each instruction (`cycles`),
//! and the arithmetic time is waves x cycles / (SIMDs x clock) of the family's card, over the fewest bytes / its bandwidth (`judge`).
//! A kernel without branches has the driver's inverse throughput; where branches are, that figure is lower, since the driver takes
//! a divergent branch for 0.75 and a uniform one for 0.5.

pub mod aco;
#[path = "../../../examples/roofline/catalogue.rs"]
pub mod catalogue;
pub mod cycles;
pub mod family;
#[path = "../../../tests/translations/hlsl.rs"]
pub mod hlsl;
pub mod judge;
pub mod marks;
pub mod misses;
pub mod path;
pub mod report;
pub mod rows;
pub mod shell;
pub mod spirv;
pub mod survey;
#[path = "../../../tests/translations/sweep.rs"]
pub mod sweep;
pub mod trips;
pub mod vulkan;
#[path = "../../../examples/roofline/work.rs"]
pub mod work;
pub mod worker;
