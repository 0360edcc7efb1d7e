//! The device side: everything that knows wgpu.

mod context;
mod encode;
mod pipeline;
mod run;
mod transfer;

#[cfg(not(target_arch = "wasm32"))]
pub use context::list_adapters_blocking;
pub use context::{Gpu, GpuOptions, list_adapters};
pub use encode::{Buffers, Prepared};

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
