//! The middle floor: schedules with their pipelines and buffers, their encoding, and the plan cache. It uses the device
//! floor, and nothing of `calls`.

pub(in crate::gpu) mod compiler;
pub(in crate::gpu) mod encode;
pub(in crate::gpu) mod pipelines;
pub(in crate::gpu) mod plan_cache;
pub(in crate::gpu) mod preparation;
