//! Rows on the CPU backend, beside a copy by the processor.

mod copy;
pub mod host;
pub mod run;
mod timed;
