//! Tests that need neither a device nor a computation: plans and schedules, and what they refuse.

mod hostile;
#[cfg(feature = "onnx")]
mod models;
mod nodes;
mod schedules;
