//! The crate's kernels, judged by the compilers of real GPUs on a machine without one.
//!
//! * `radv`: AMD's compiler, from Mesa. It gives registers, spills, waves, and arithmetic time over memory time for
//!   every row of the crate's catalogue.
//! * `microsoft`: FXC and DXC, which compile every kernel on Windows; FXC has to do so within a time limit.
//! * `texts`: every kernel in the languages of all drivers, for checkers such as spirv-val.
//! * `schedules`: recorded cases as schedules that another WebGPU can execute; `programs/tint.mjs` does so with Dawn.
//! * `suite`: the crate's tests on an adapter, as many as there is time for.
//!
//! The script tests/compilers runs them all with what it finds, or brings, on a Debian machine.
//!
//! # How loops are counted
//!
//! The driver's own estimate takes the same number of trips for all loops. Here every loop that is left in the compiled
//! kernel is traced to the loop of the text that it comes from (`marks`), whose trips are counted (`trips`):
//!
//! * from the text's constants, if bound and step are constant;
//! * over a window's taps: the extents of the window in the prelude, or of the row's largest window if windows come
//!   from a table;
//! * down the lines of a thread tile: the lines of Y, shared by the invocations of the grid;
//! * over the digits of a position: at most one for each axis, and the figure says "at most";
//! * in the first pass of a pool of whole planes, whose invocations share X: the bytes of a share over the bytes that a
//!   trip loads.
//!
//! All other loops are bounded by the schedule: `Dispatch::iterations` is the most iterations of all loops of an
//! invocation together. Those that the counted loops leave go to the heaviest of the other loops, and the figure says
//! "at most". With `--wgsl` there is no schedule: the loops are listed, and `--iterations` gives the bound. A kernel of
//! a new kind whose bound stands in a uniform needs a rule of its own in `trips`.
//!
//! A wave executes the heaviest path through the control flow (`path`), with Mesa's cycles for each instruction
//! (`cycles`). The arithmetic time is waves x cycles / (SIMDs x clock) of the family's card, and the memory time is the
//! fewest bytes / its bandwidth (`judge`). For a kernel without branches the cycles are the driver's inverse
//! throughput. With branches the driver's figure is lower, since it weights a divergent branch by 0.75 and a uniform
//! one by 0.5.

pub mod aco;
#[path = "../../roofline/src/catalogue.rs"]
pub mod catalogue;
pub mod cycles;
pub mod family;
pub mod judge;
pub mod kernels;
pub mod language;
pub mod marks;
pub mod misses;
pub mod part;
pub mod path;
pub mod report;
pub mod rows;
pub mod shell;
pub mod spirv;
pub mod survey;
pub mod translations;
pub mod trips;
pub mod vulkan;
#[path = "../../roofline/src/work.rs"]
pub mod work;
pub mod worker;
