//! The two error types: [`PlanError`] for errors that follow from attributes, shapes and limits, and [`ExecuteError`]
//! for errors that depend on data or on a device.

mod execute;
mod plan;

pub use execute::ExecuteError;
pub use plan::PlanError;
