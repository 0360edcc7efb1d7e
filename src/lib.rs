#![warn(missing_docs)]
mod attributes;
mod element;
mod error;
mod geometry;
#[cfg(feature = "gpu")]
mod gpu;
mod index;
pub mod ops;
mod plan;
pub mod reference;
mod schedule;
mod select;
mod tensor;
mod uniform;
mod wgsl;
pub use attributes::*;
pub use element::{DType, Element};
pub use error::{ExecuteError, PlanError};
pub use geometry::{AxisWindow, Taps};
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use gpu::list_adapters_blocking;
#[cfg(feature = "gpu")]
pub use gpu::{Gpu, GpuOptions, Prepared, list_adapters};
pub use index::{Index, IndexSpace, IndexStrides, IndexType};
pub use ops::{AdaptiveMaxPool, GlobalMaxPool, MaxPool, MaxUnpool, Pooling};
pub use plan::{IndexPlan, MAX_SPATIAL_AXES, Plan, PoolAxis, PoolPlan, UnpoolPlan};
pub use schedule::{
    ActivationKind, Binding, Build, Dispatch, Family, KernelKey, Limits, Schedule, Sink, Slot, Source, WindowConstants,
};
pub use select::{Choice, MAX_ITERATIONS, families, select};
pub use tensor::{Tensor, TensorView, element_count};
/// The wgpu that this crate was built with, for callers who bring their own device.
#[cfg(feature = "gpu")]
pub use wgpu;
pub use wgsl::wgsl;
