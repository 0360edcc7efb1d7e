//! What callers of the CPU backend use.

pub(crate) mod cpu;
pub(crate) mod dispatch;
pub(crate) mod prepared;
pub(crate) mod stream;
pub(crate) mod stream_unpool;
