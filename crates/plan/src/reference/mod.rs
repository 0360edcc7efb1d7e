//! The operators as plain loops over a plan: the oracle that every kernel is compared with.
//!
//! Nothing here is optimised. Each function can be checked by eye against the definition of its operator.

mod backend;
mod convert_indices;
mod max_pool;
mod max_unpool;

pub use backend::Reference;
pub use convert_indices::convert_indices;
pub use max_pool::{max_pool, max_pool_with_indices};
pub use max_unpool::max_unpool;
