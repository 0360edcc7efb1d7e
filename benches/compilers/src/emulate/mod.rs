//! Workgroups of a kernel, executed on the host to see what no compiler tells: how often loops run, which sides of
//! branches are taken, and which bytes neighbouring invocations touch.
//!
//! The invocations of a workgroup run in step, each statement for all of them before the next one, so that barriers
//! need nothing. What is not found in this crate's kernels is an error.

mod interpreted;
mod mask;
mod memory;
mod numbers;
mod operations;
mod run;
mod seen;
mod usual;

pub use interpreted::{Interpreted, interpreted};
pub use memory::Buffers;
pub use numbers::{Numbers, SourceLoop};
pub use run::workgroup;
pub use seen::{Access, Runs, Seen};
pub use usual::usual;
