//! What callers of the CPU backend use.

pub(crate) mod cpu;
mod last_plans;
pub(crate) mod prepared;
mod work;
