//! Tests that need neither a device nor a computation: plans and schedules, and what they refuse.

#[allow(dead_code, reason = "roofline uses the rest")]
#[path = "../../benches/roofline/src/catalogue.rs"]
mod catalogue;
mod compositions;
mod drawn;
mod hashes;
mod hostile;
#[path = "../../examples/inspect/json.rs"]
mod json;
#[cfg(feature = "onnx")]
mod models;
mod nodes;
mod presets;
mod schedules;
#[allow(dead_code, reason = "roofline uses the rest")]
#[path = "../../benches/roofline/src/work.rs"]
mod work;
