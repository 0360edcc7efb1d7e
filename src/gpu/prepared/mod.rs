//! The middle floor: schedules with their pipelines and buffers, their encoding, and the plan cache. It knows a device, and no calls.

pub(in crate::gpu) mod encode;
pub(in crate::gpu) mod pipelines;
pub(in crate::gpu) mod plan_cache;
pub(in crate::gpu) mod preparation;
