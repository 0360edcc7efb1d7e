//! The device side, in three floors: device <- prepared <- calls. A floor uses those below it and none above.

pub(crate) mod calls;
mod device;
mod prepared;

pub use calls::bound::Bound;
pub use calls::chain::Chain;
pub use calls::device_tensor::DeviceTensor;
pub use calls::gpu::Gpu;
#[cfg(not(target_arch = "wasm32"))]
pub use calls::measure::ChoiceTime;
pub use calls::prepare::{Prepare, Prepared};
pub use calls::results::{ReadBack, Results, StepTime, Submitted};
#[cfg(not(target_arch = "wasm32"))]
pub use device::adapter::list_adapters_blocking;
pub use device::adapter::{GpuOptions, list_adapters, required_limits};
pub use device::test_hooks::TestHooks;
pub use prepared::encode::Buffers;

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
