//! What callers of the CPU backend use.

pub(crate) mod cpu;
pub(crate) mod prepared;
