//! The crate's kernels, judged by the compilers of real GPUs on a machine without one.
//!
//! * `radv`: AMD's compiler, from Mesa: instructions, registers, spills and code of a fixed list of kernels, compared
//!   with those of radv.txt.
//! * `microsoft`: FXC and DXC, which compile every kernel on Windows; FXC has to do so within a time limit.
//! * `texts`: every kernel in the languages of all drivers, for checkers such as spirv-val.
//! * `schedules`: recorded cases as schedules that another WebGPU can execute; `programs/tint.mjs` does so with Dawn.
//! * `suite`: the crate's tests on an adapter, as many as there is time for.
//!
//! The script tests/compilers runs them all with what it finds, or brings, on a Debian machine.

#[path = "../../roofline/src/catalogue.rs"]
pub mod catalogue;
pub mod kernels;
pub mod language;
pub mod listed;
pub mod part;
pub mod shell;
pub mod source;
pub mod table;
pub mod translations;
pub mod vulkan;
#[path = "../../roofline/src/work.rs"]
pub mod work;
