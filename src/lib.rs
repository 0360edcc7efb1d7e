#![warn(missing_docs)]
mod attributes;
mod element;
mod error;
mod geometry;
mod index;
pub mod ops;
mod plan;
pub mod reference;
mod schedule;
mod tensor;
pub use attributes::*;
pub use element::{DType, Element};
pub use error::{ExecuteError, PlanError};
pub use geometry::{AxisWindow, Taps};
pub use index::{Index, IndexSpace, IndexStrides, IndexType};
pub use ops::{AdaptiveMaxPool, GlobalMaxPool, MaxPool, MaxUnpool, Pooling};
pub use plan::{IndexPlan, MAX_SPATIAL_AXES, Plan, PoolAxis, PoolPlan, UnpoolPlan};
pub use tensor::{Tensor, TensorView, element_count};
