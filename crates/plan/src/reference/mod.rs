//! The operators as plain loops over a plan: the oracle that every kernel is compared with.
//!
//! Nothing here is optimised. Each function can be checked by eye against the definition of its operator.

mod backend;
pub(crate) mod max_pool;
mod max_unpool;

pub use backend::Reference;
