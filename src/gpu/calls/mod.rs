//! What callers use: one-shot calls, chains and encoding into the caller's own pass.

pub(in crate::gpu) mod bound;
pub(in crate::gpu) mod chain;
pub(in crate::gpu) mod device_tensor;
pub(crate) mod gpu;
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::gpu) mod measure;
pub(crate) mod prepare;
pub(in crate::gpu) mod results;
pub(in crate::gpu) mod run;
#[cfg(not(target_arch = "wasm32"))]
mod spawnable;
