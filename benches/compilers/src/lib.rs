//! The crate's kernels, judged by the compilers of real GPUs on a machine without one.
//!
//! * `radv`: AMD's, from Mesa. Registers, spills, waves, and arithmetic against memory time, of every row of the crate's catalogue.
//! * `microsoft`: FXC and DXC, which every kernel has to get through on Windows, in time.
//!
//! # How loops are counted
//!
//! The driver's own estimate has one number for all loops. Here every loop that is left in the compiled kernel is traced to the loop
//! of the text that it comes from (`marks`), and runs as often as can be told (`trips`):
//!
//! * from the text's constants, where bound and step are such;
//! * over a window's taps: the prelude's extents of the window, or the row's, where windows come from a table;
//! * down the lines of a walk: the lines of Y, shared by the invocations of the grid;
//! * over the digits of a position: at most one for each axis, and the figure says "at most";
//! * in the first pass of a pool of whole planes, whose invocations share X: as often as a share has bytes that a trip loads.
//!
//! For what is left, the bound is the schedule's: `Dispatch::iterations` is the most that all loops of an invocation come to. What
//! the others leave of it goes to the heaviest of those loops, and the figure says "at most". `--wgsl` has no schedule; it lists the
//! loops, and `--iterations` takes its place. A kernel of a new kind with a bound in a uniform needs its rule in `trips`.
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
#[path = "../../../tests/plans/translations/hlsl.rs"]
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
#[path = "../../../tests/plans/translations/sweep.rs"]
pub mod sweep;
pub mod trips;
pub mod vulkan;
#[path = "../../../examples/roofline/work.rs"]
pub mod work;
pub mod worker;
