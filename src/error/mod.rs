//! The two error types: [`PlanError`] for everything that is knowable from attributes, shapes and limits, and
//! [`ExecuteError`] for what only data or a device can tell.

mod execute;
mod plan;

pub use execute::ExecuteError;
pub use plan::PlanError;
pub(crate) use plan::within;
