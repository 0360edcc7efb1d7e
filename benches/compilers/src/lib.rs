//! The crate's kernels, judged by the compilers of real GPUs on a machine without one.
//!
//! * `radv`: AMD's compiler, from Mesa. It gives registers, spills, waves, vector operations, and the time that follows
//!   from them on an H100, for every row of the crate's catalogue.
//! * `microsoft`: FXC and DXC, which compile every kernel on Windows; FXC has to do so within a time limit.
//! * `texts`: every kernel in the languages of all drivers, for checkers such as spirv-val.
//! * `schedules`: recorded cases as schedules that another WebGPU can execute; `programs/tint.mjs` does so with Dawn.
//! * `suite`: the crate's tests on an adapter, as many as there is time for.
//!
//! The script tests/compilers runs them all with what it finds, or brings, on a Debian machine.
//!
//! # What is counted
//!
//! For each dispatch some of its workgroups are emulated on the host (`emulate`), on data without NaN (`contents`).
//! That says how often loops run, which sides of branches nobody takes, which bytes neighbouring invocations touch. The
//! kernel is compiled as wgpu writes it, for its registers and spills, and once more without what nobody does, with
//! every loop marked (`marks`), so that each loop that the compiler leaves is known again in the compiled kernel. A
//! wave executes the heaviest path through the control flow (`path`), with the trips that were seen.
//!
//! From vector operations, bytes and lines of cache follows the time on a card (`card`).

pub mod aco;
pub mod card;
#[path = "../../roofline/src/catalogue.rs"]
pub mod catalogue;
#[cfg(test)]
#[path = "../../roofline/src/classes.rs"]
mod classes;
pub mod contents;
pub mod cost;
#[path = "../../roofline/src/data.rs"]
pub mod data;
#[cfg(test)]
#[path = "../../roofline/src/describe.rs"]
mod describe;
#[path = "../../roofline/src/draw.rs"]
pub mod draw;
pub mod emulate;
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
pub mod vulkan;
#[path = "../../roofline/src/work.rs"]
pub mod work;
pub mod worker;
