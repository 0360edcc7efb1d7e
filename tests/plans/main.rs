//! Tests that need neither a device nor a computation: plans and schedules, what they refuse, the texts of the shaders,
//! and the rules that the sources keep.

mod hostile;
mod house_rules;
mod imports;
#[cfg(feature = "onnx")]
mod models;
mod nodes;
mod public_items;
mod schedules;
mod sources;
mod translations;
