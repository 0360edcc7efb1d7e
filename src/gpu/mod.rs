//! The device side: everything that knows wgpu.

mod answer;
mod chain;
mod context;
mod encode;
mod gate;
mod kept;
mod memory;
mod options;
mod pipeline;
mod progress;
mod results;
mod run;
mod shelf;
mod stream;
mod stream_unpool;
mod tensor;
mod transfer;

pub use chain::Chain;
pub use context::Gpu;
pub use encode::{Buffers, Prepared};
#[cfg(not(target_arch = "wasm32"))]
pub use options::list_adapters_blocking;
pub use options::{GpuOptions, list_adapters, required_limits};
pub use results::{ReadBack, Results, StepTime, Submitted};
pub use stream::{StreamOptions, StreamProgress, StreamReport, StreamSink, StreamSource};
pub use tensor::DeviceTensor;

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
